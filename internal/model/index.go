package model

import "iter"

// An index finds the rows that have a key. Rows of one key are chained through an
// array, so that a million rows cost one map and one slice.
type index[K comparable] struct {
	head  map[K]int32
	links []link
}

type link struct{ row, next int32 }

func newIndex[K comparable](size int) index[K] {
	return index[K]{head: make(map[K]int32, size), links: make([]link, 0, size)}
}

// add is called in descending order of rows, so that they are found in ascending order.
func (x *index[K]) add(k K, row int) {
	next := int32(-1)
	if h, ok := x.head[k]; ok {
		next = h
	}
	x.head[k] = int32(len(x.links))
	x.links = append(x.links, link{int32(row), next})
}

func (x *index[K]) rows(k K) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		i, ok := x.head[k]
		if !ok {
			return
		}
		for ; i >= 0; i = x.links[i].next {
			if !yield(x.links[i].row) {
				return
			}
		}
	}
}

func (x *index[K]) first(k K) (int32, bool) {
	i, ok := x.head[k]
	if !ok {
		return 0, false
	}
	return x.links[i].row, true
}
