package host

import "time"

// A memory tells for how long things have been as they are: what was not seen in the
// last look, or was seen otherwise, is new.
type memory[K, V comparable] struct {
	before, now map[K]seen[V]
}

type seen[V comparable] struct {
	as    V
	first time.Duration
}

// A look that finds more than this has other worries.
const maxRemembered = 16384

// begin starts a look.
func (m *memory[K, V]) begin() { m.before, m.now = m.now, map[K]seen[V]{} }

// lasts notes that k is as v, and gives since when it is; false if this is the first look at it.
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
