package timeline

import "hash/maphash"

// interned assigns every distinct value a number; the zero value has number zero.
type interned[T comparable] struct {
	seed   maphash.Seed
	table  []uint32 // open addressing; zero marks an empty slot
	values slabs[T]
}

func newInterned[T comparable]() *interned[T] {
	in := &interned[T]{seed: maphash.MakeSeed(), table: make([]uint32, 1<<8)}
	var zero T
	in.values.add(zero)
	return in
}

func (in *interned[T]) number(v T) uint32 {
	var zero T
	if v == zero {
		return 0
	}
	if in.values.end*2 > len(in.table) {
		in.grow()
	}
	at := in.place(v)
	if in.table[at] == 0 {
		in.table[at] = uint32(in.values.add(v))
	}
	return in.table[at]
}

func (in *interned[T]) value(n uint32) T { return *in.values.at(int(n)) }

// place gives the slot of v in the table, or the empty slot where it belongs.
func (in *interned[T]) place(v T) uint64 {
	mask := uint64(len(in.table) - 1)
	at := maphash.Comparable(in.seed, v) & mask
	for in.table[at] != 0 && in.value(in.table[at]) != v {
		at = (at + 1) & mask
	}
	return at
}

func (in *interned[T]) grow() {
	in.table = make([]uint32, 2*len(in.table))
	for n := 1; n < in.values.end; n++ {
		in.table[in.place(*in.values.at(n))] = uint32(n)
	}
}
