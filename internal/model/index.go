package model

import (
	"hash/maphash"
	"iter"
	"net/netip"
)

// An index finds the rows that have a key. Rows of one hash are chained through an array;
// what a row's key is, the row itself is asked again: a million rows cost two arrays
// without a pointer in them.
type index[K comparable] struct {
	heads []int32 // of chains, by hash: a link, counted from one
	links []link
	hash  func(K) uint32
	key   func(row int32) K
	keys  []K // by link, where key is nil
}

type link struct {
	row, next int32
	hash      uint32
}

// newIndex makes one for about so many rows, which do not tell their keys.
func newIndex[K comparable](size int) index[K] {
	return index[K]{heads: make([]int32, tableSize(size)), links: make([]link, 0, size), hash: hasher[K](), keys: make([]K, 0, size)}
}

// newLean makes one for rows that tell their keys.
func newLean[K comparable](size int, key func(row int32) K) index[K] {
	return index[K]{heads: make([]int32, tableSize(size)), links: make([]link, 0, size), hash: hasher[K](), key: key}
}

// tableSize is a power of two, and at least as large as there are rows.
func tableSize(rows int) int {
	n := 1
	for n < rows {
		n *= 2
	}
	return n
}

// add is called in descending order of rows, so that they are found in ascending order.
func (x *index[K]) add(k K, row int) {
	if len(x.links) >= len(x.heads) {
		x.grow()
	}
	h := x.hash(k)
	x.links = append(x.links, link{int32(row), 0, h})
	x.head(len(x.links) - 1)
	if x.key == nil {
		x.keys = append(x.keys, k)
	}
}

// head puts a link in front of its chain.
func (x *index[K]) head(i int) {
	h := &x.heads[x.links[i].hash&uint32(len(x.heads)-1)]
	x.links[i].next = *h
	*h = int32(i) + 1
}

func (x *index[K]) grow() {
	x.heads = make([]int32, max(2*len(x.heads), 1))
	for i := range x.links {
		x.head(i)
	}
}

func (x *index[K]) rows(k K) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for i := x.next(k, x.chain(k)); i > 0; i = x.next(k, x.links[i-1].next) {
			if !yield(x.links[i-1].row) {
				return
			}
		}
	}
}

func (x *index[K]) first(k K) (int32, bool) {
	i := x.next(k, x.chain(k))
	if i == 0 {
		return 0, false
	}
	return x.links[i-1].row, true
}

func (x *index[K]) chain(k K) int32 {
	if len(x.links) == 0 {
		return 0
	}
	return x.heads[x.hash(k)&uint32(len(x.heads)-1)]
}

// next is the link of that key from i on; 0 if there is none.
func (x *index[K]) next(k K, i int32) int32 {
	if i == 0 {
		return 0
	}
	for h := x.hash(k); i > 0; i = x.links[i-1].next {
		l := &x.links[i-1]
		if l.hash != h {
			continue
		}
		if x.key != nil && x.key(l.row) == k || x.key == nil && x.keys[i-1] == k {
			break
		}
	}
	return i
}

var seed = maphash.MakeSeed()

// hasher gives the hash of a kind of key. It is chosen once, when an index is made: a key
// that is put into an interface for every look-up would be allocated each time.
func hasher[K comparable]() func(K) uint32 {
	var h any
	switch any(*new(K)).(type) {
	case string:
		h = hashString
	case name:
		h = func(k name) uint32 { return hashString(k.name) ^ hashString(k.namespace)*31 }
	case netip.Addr:
		h = hashAddr
	case nodeName:
		h = func(k nodeName) uint32 { return hashString(k.name) ^ hashString(k.node)*31 }
	case nodeAddr:
		h = func(k nodeAddr) uint32 { return hashAddr(k.ip) ^ hashString(k.node)*31 }
	case nodeNumber:
		h = func(k nodeNumber) uint32 { return hashNumber(uint64(k.n)) ^ hashString(k.node)*31 }
	case nodeInode:
		h = func(k nodeInode) uint32 { return hashNumber(k.inode) ^ hashString(k.node)*31 }
	default:
		return func(k K) uint32 { return uint32(maphash.Comparable(seed, k)) }
	}
	return h.(func(K) uint32)
}

func hashString(s string) uint32 { return uint32(maphash.String(seed, s)) }

func hashAddr(a netip.Addr) uint32 {
	b := a.As16()
	return uint32(maphash.Bytes(seed, b[:]))
}

func hashNumber(n uint64) uint32 {
	n *= 0x9e3779b97f4a7c15 // Fibonacci hashing: the high bits depend on all of n
	return uint32(n >> 32)
}
