package timeline

import "hash/maphash"

// Bounds of the strings that are kept. Messages have the lower bound: a story without the text of
// an error is of use, one without the pod's name is not.
const (
	textChunk = 1 << 20
	maxTexts  = 96 << 20
	maxNotes  = 48 << 20
)

// texts keeps every distinct string once, in large chunks without a pointer to each. Strings are
// numbered from one; zero is the empty string.
type texts struct {
	seed   maphash.Seed
	table  []uint32 // open addressing; zero marks an empty slot
	chunks [][]byte
	spans  slabs[span]
	bytes  int
	lost   int // strings that were not kept because of the bounds
}

type span struct {
	chunk, from uint32
	length      uint32
}

func newTexts() *texts {
	t := &texts{seed: maphash.MakeSeed(), table: make([]uint32, 1<<10)}
	t.spans.add(span{})
	return t
}

// number gives the string's number and adds it if it is new; zero for the empty string, and for
// a new one if limit bytes are reached.
func (t *texts) number(s string, limit int) uint32 {
	if s == "" {
		return 0
	}
	if t.spans.end*2 > len(t.table) {
		t.grow()
	}
	mask := uint64(len(t.table) - 1)
	at := maphash.String(t.seed, s) & mask
	for t.table[at] != 0 {
		if string(t.get(t.table[at])) == s {
			return t.table[at]
		}
		at = (at + 1) & mask
	}
	if t.bytes+len(s) > limit || len(s) > textChunk {
		t.lost++
		return 0
	}
	t.table[at] = uint32(t.spans.add(t.put(s)))
	return t.table[at]
}

// known gives the string's number if it is kept.
func (t *texts) known(s string) (uint32, bool) {
	mask := uint64(len(t.table) - 1)
	for at := maphash.String(t.seed, s) & mask; t.table[at] != 0; at = (at + 1) & mask {
		if string(t.get(t.table[at])) == s {
			return t.table[at], true
		}
	}
	return 0, false
}

func (t *texts) put(s string) span {
	last := len(t.chunks) - 1
	if last < 0 || len(t.chunks[last])+len(s) > textChunk {
		t.chunks = append(t.chunks, make([]byte, 0, textChunk))
		last++
	}
	from := len(t.chunks[last])
	t.chunks[last] = append(t.chunks[last], s...)
	t.bytes += len(s)
	return span{chunk: uint32(last), from: uint32(from), length: uint32(len(s))}
}

func (t *texts) get(n uint32) []byte {
	if n == 0 {
		return nil
	}
	s := t.spans.at(int(n))
	return t.chunks[s.chunk][s.from : s.from+s.length]
}

func (t *texts) grow() {
	t.table = make([]uint32, 2*len(t.table))
	mask := uint64(len(t.table) - 1)
	for n := 1; n < t.spans.end; n++ {
		at := maphash.Bytes(t.seed, t.get(uint32(n))) & mask
		for t.table[at] != 0 {
			at = (at + 1) & mask
		}
		t.table[at] = uint32(n)
	}
}
