package host

import "time"

// A memory records how long states have lasted: what was missing or different in the last
// read is new.
type memory[K, V comparable] struct {
	before, now map[K]seen[V]
}

type seen[V comparable] struct {
	as    V
	first time.Duration
}

// maxRemembered bounds the states of one read.
const maxRemembered = 16384

// begin starts a read.
func (m *memory[K, V]) begin() { m.before, m.now = m.now, map[K]seen[V]{} }

// lasts records that k has state v, and returns since when; false if this is its first
// read.
func (m *memory[K, V]) lasts(k K, v V, at time.Duration) (time.Duration, bool) {
	s, again := m.before[k]
	if again = again && s.as == v; !again {
		s = seen[V]{as: v, first: at}
	}
	if len(m.now) < maxRemembered {
		m.now[k] = s
	}
	return at - s.first, again
}
