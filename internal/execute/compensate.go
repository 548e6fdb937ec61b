package execute

import (
	"context"
	"fmt"

	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/change"
)

// needed reports that a step after index at allocates an address to the handle.
func (x *Executor) needed(at int, handle string) bool {
	for _, s := range x.plan.Steps[at+1:] {
		if os, ok := s.Change.(change.Ordinals); ok && os.GiveTo(handle) {
			return true
		}
	}
	return false
}

// compensate undoes the writes for finding f up to step index at, by new writes with their
// own verification. It runs on a copy of x with undoing set; only entries, spent and failing
// are copied back, so findings that are dropped in the undo stay as they are in x. What x computed
// from answers and blocks is computed again: both share the answers, and the copy may have asked
// and written since.
func (x *Executor) compensate(ctx context.Context, at int, f string) error {
	back := repair.Undo(x.plan, x.entries, f)
	y := *x
	defer func() { x.asks, x.counted, x.rolled, x.named = y.asks, counted{}, nil, nil }()
	y.read(back)
	y.undoing = true
	y.dropped, y.written = map[string]Verdict{}, map[string]bool{}
	for i := range back.Steps {
		s := &back.Steps[i]
		if c, ok := s.Change.(*change.Count); ok && x.needed(at, c.Handle) {
			continue // a later step needs this count; a count that is too high only leaks the handle object
		}
		v, err := y.step(ctx, s)
		if err != nil {
			return fmt.Errorf("undo of %s: %w", f, err)
		}
		x.report(Progress{Step: s, N: i + 1, Of: len(back.Steps), Outcome: v.Outcome, Why: v.Why, Undo: true})
	}
	x.entries, x.spent, x.failing = y.entries, y.spent, y.failing
	return nil
}
