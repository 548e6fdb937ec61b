package observe

import (
	"sync"
	"time"
)

// A Tempo is how long something takes lately. A limit that follows it lets a busy node answer
// late, and again and again, instead of now in time and now not. The zero value is ready.
type Tempo struct {
	mu   sync.Mutex
	took time.Duration
}

// Note counts how long it took, or for how long it was waited in vain. What was slow once is
// forgotten slowly.
func (t *Tempo) Note(d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.took = max(d, t.took*3/4)
}

// Limit is twice as long as it takes, within bounds: what hangs for ever must not make others
// wait for ever.
func (t *Tempo) Limit(least, most time.Duration) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return min(max(least, 2*t.took), max(least, most))
}
