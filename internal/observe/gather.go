package observe

import (
	"sync"
	"time"
)

// How changes are told: those that come together, together.
const (
	maxTold   = 500
	gatherFor = 3 * time.Millisecond
)

// A Gatherer tells changes in the order in which they came, several at a time. Who adds to
// it waits while they are told: what cannot be judged so fast is not piled up here.
type Gatherer struct {
	deliver func([]Change)

	mu    sync.Mutex
	held  []Change
	timer *time.Timer
}

// Gather makes a Gatherer. Its last changes are told by Flush.
func Gather(tell func([]Change)) *Gatherer {
	g := &Gatherer{deliver: tell}
	g.timer = time.AfterFunc(time.Hour, g.Flush)
	g.timer.Stop()
	return g
}

// Add takes a change, which is told within a few milliseconds.
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

// Flush tells what is held, at once.
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
	g.held = nil // whoever was told keeps it
	g.deliver(told)
}
