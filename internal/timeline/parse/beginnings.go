package parse

import "encoding/binary"

// beginnings tell quickly that a text begins with none of many phrases: by a mark at a
// place that its first four bytes choose. Others may choose the same place.
type beginnings [1 << 11]bool

func beginningsOf(says map[string][]phrase) *beginnings {
	var b beginnings
	for _, phrases := range says {
		for _, p := range phrases {
			b[place([]byte(p.begins))] = true
		}
	}
	return &b
}

// may tells whether text may begin with one of the phrases, all of which have four bytes.
func (b *beginnings) may(text []byte) bool { return len(text) >= 4 && b[place(text)] }

func place(text []byte) uint32 { return binary.LittleEndian.Uint32(text) * 0x9e3779b1 >> 21 }
