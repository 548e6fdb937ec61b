package execute

import (
	"context"
	"time"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/change"
)

// A counted is the block that was read last to count a handle. Thousands of handles may be
// counted in one block, one after the other.
type counted struct {
	block model.Object
	asks  int // Executor.asks when it was read
	at    time.Time
}

// countedFor is how long a block that was read is counted in again.
const countedFor = 10 * time.Second

// also reads an object that a step depends on, after the object of the step. For a count it may be
// the block as read for the step before, if no node was asked since: then it was read after the
// nodes verified, and the handle has the revision that it had in the plan, which is older still.
// Whoever allocates to a handle writes the handle first, so an allocation that is not in that
// block was not made.
func (x *Executor) also(ctx context.Context, s *repair.Step, live model.Object, r model.Ref) (model.Object, error) {
	c, counts := s.Change.(*change.Count)
	if counts && c.Unchanged != "" && c.Unchanged == live.Revision && x.counted.block.Ref == r && x.counted.asks == x.asks {
		if age := x.Now().Sub(x.counted.at); age >= 0 && age < countedFor {
			return x.counted.block, nil
		}
	}
	at, asks := x.Now(), x.asks
	o, err := x.store(r.Kind).Get(ctx, r)
	if err == nil && counts {
		x.counted = counted{o, asks, at}
	}
	return o, err
}

// guarded reports that a recount of an undo lowers a handle only at the revision that our own write gave it: nothing but counts
// was written by the repair that is undone. In other plans the revision is that of the snapshot, and shows no write of ours.
func (x *Executor) guarded(s *repair.Step) bool {
	c, count := s.Change.(*change.Count)
	return count && c.Unchanged != "" && x.plan.Undoes != ""
}
