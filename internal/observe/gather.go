package observe

import (
	"sync"
	"time"
)

const (
	maxTold   = 500                  // changes per call of deliver
	gatherFor = 3 * time.Millisecond // how long a change waits for others
)

// A Gatherer delivers changes in the order in which they were added, in batches. Add blocks
// while a batch is delivered, so that a slow receiver slows down the watch instead of filling
// memory.
type Gatherer struct {
	deliver func([]Change) // called with mu held, so never concurrently

	mu    sync.Mutex
	held  []Change    // not delivered yet; fewer than maxTold
	timer *time.Timer // runs while held is not empty
}

// Gather makes a Gatherer. Call Flush at the end to deliver the last changes.
func Gather(tell func([]Change)) *Gatherer {
	g := &Gatherer{deliver: tell}
	g.timer = time.AfterFunc(time.Hour, g.Flush)
	g.timer.Stop()
	return g
}

// Add takes a change and delivers it within a few milliseconds.
func (g *Gatherer) Add(c Change) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.held = append(g.held, c)
	switch len(g.held) {
	case maxTold:
		g.flush()
	case 1:
		g.timer.Reset(gatherFor)
	}
}

// Flush delivers the held changes at once.
func (g *Gatherer) Flush() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.flush()
}

func (g *Gatherer) flush() {
	if len(g.held) == 0 {
		return
	}
	g.timer.Stop()
	told := g.held
	g.held = nil // the receiver owns the slice
	g.deliver(told)
}
