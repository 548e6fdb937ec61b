package model

import (
	"hash/maphash"
	"iter"
	"net/netip"
)

// An index is a multimap from a key to rows: a hash table with chains through an array. A
// lean index does not store keys but reads them from the rows (key), so that a million rows
// cost two arrays without pointers.
//
// Invariants: len(heads) is a power of two (or 0 for the zero value, which is
// empty); len(links) <= len(heads) after each add; every link is in exactly one chain,
// that of its hash; exactly one of key and keys is used; rows(k) yields rows in the reverse
// order of add.
type index[K comparable] struct {
	heads []int32           // by hash modulo len(heads): first link of the chain, plus 1; 0: empty
	links []link            // one per add, in the order of add
	hash  func(K) uint32    // of a key
	key   func(row int32) K // the key of a row; nil: see keys
	keys  []K               // by link, if key is nil
}

// A link is one entry of a chain.
type link struct {
	row  int32  // the row that was added
	next int32  // next link of the chain, plus 1; 0: end
	hash uint32 // full hash of the key, to skip others without reading their key
}

// newIndex makes an index for about size rows that stores the keys.
func newIndex[K comparable](size int) index[K] {
	return index[K]{heads: make([]int32, tableSize(size)), links: make([]link, 0, size), hash: hasher[K](), keys: make([]K, 0, size)}
}

// newLean makes an index for about size rows that reads keys from the rows: key(row) must
// return the same key as was passed to add.
func newLean[K comparable](size int, key func(row int32) K) index[K] {
	return index[K]{heads: make([]int32, tableSize(size)), links: make([]link, 0, size), hash: hasher[K](), key: key}
}

// tableSize is the smallest power of two that is at least rows.
func tableSize(rows int) int {
	n := 1
	for n < rows {
		n *= 2
	}
	return n
}

// add adds a row. Call it in descending order of rows: then rows are found in ascending order.
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

// head inserts link i at the front of its chain.
func (x *index[K]) head(i int) {
	h := &x.heads[x.links[i].hash&uint32(len(x.heads)-1)]
	x.links[i].next = *h
	*h = int32(i) + 1
}

// grow doubles the table and chains all links again, in the order of add, which keeps the
// order within each chain.
func (x *index[K]) grow() {
	x.heads = make([]int32, max(2*len(x.heads), 1))
	for i := range x.links {
		x.head(i)
	}
}

// rows yields the rows with that key.
func (x *index[K]) rows(k K) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for i := x.next(k, x.chain(k)); i > 0; i = x.next(k, x.links[i-1].next) {
			if !yield(x.links[i-1].row) {
				return
			}
		}
	}
}

// first is the first row with that key.
func (x *index[K]) first(k K) (int32, bool) {
	i := x.next(k, x.chain(k))
	if i == 0 {
		return 0, false
	}
	return x.links[i-1].row, true
}

// chain is the first link, plus 1, of the chain that may contain the key; 0 if it is empty.
func (x *index[K]) chain(k K) int32 {
	if len(x.links) == 0 {
		return 0
	}
	return x.heads[x.hash(k)&uint32(len(x.heads)-1)]
}

// next is the first link, plus 1, with that key in the chain from i on (i included); 0 if
// there is none.
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
