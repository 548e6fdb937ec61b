package live

import (
	"iter"
	"slices"
)

// many finds rows by a key that nearly always has one: a second costs a slice, the first
// does not.
type many[K, V comparable] struct {
	one  map[K]V
	more map[K][]V
}

func newMany[K, V comparable]() many[K, V] {
	return many[K, V]{one: map[K]V{}, more: map[K][]V{}}
}

// add is for once and for all: what is there already is not there twice.
func (m *many[K, V]) add(k K, v V) {
	first, ok := m.one[k]
	switch {
	case !ok:
		m.one[k] = v
	case first != v && !slices.Contains(m.more[k], v):
		m.more[k] = append(m.more[k], v)
	}
}

func (m *many[K, V]) remove(k K, v V) {
	rest := m.more[k]
	if m.one[k] == v {
		if len(rest) == 0 {
			delete(m.one, k)
			return
		}
		m.one[k], rest[0] = rest[0], v
	}
	i := slices.Index(rest, v)
	switch {
	case i < 0:
		return
	case len(rest) == 1:
		delete(m.more, k)
	default:
		rest[i] = rest[len(rest)-1]
		m.more[k] = rest[:len(rest)-1]
	}
}

// of gives the rows of a key, in no order. The map must not be changed meanwhile.
func (m *many[K, V]) of(k K) iter.Seq[V] {
	return func(yield func(V) bool) {
		first, ok := m.one[k]
		if !ok || !yield(first) {
			return
		}
		for _, v := range m.more[k] {
			if !yield(v) {
				return
			}
		}
	}
}

func (m *many[K, V]) has(k K) bool {
	_, ok := m.one[k]
	return ok
}
