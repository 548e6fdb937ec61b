package parse

import "encoding/binary"

// beginnings is a filter: a text whose hash of the first four bytes is not marked begins with
// none of the phrases. A marked one may still begin with none.
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

// may reports whether text may begin with one of the phrases, all of which have at least four
// bytes.
func (b *beginnings) may(text []byte) bool { return len(text) >= 4 && b[place(text)] }

func place(text []byte) uint32 { return binary.LittleEndian.Uint32(text) * 0x9e3779b1 >> 21 }
