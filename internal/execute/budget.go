package execute

import (
	"context"
	"time"

	"plumbline.dev/plumbline/internal/model"
)

// A Budget bounds writes per second, by kind of object. Every Felix of the cluster receives
// each write of a block; only Calico's controllers receive writes of handles. 0 means no
// limit.
type Budget struct {
	Blocks, Handles, Others float64
}

// Default is the budget if none is given.
var Default = Budget{Blocks: 10, Handles: 100, Others: 20}

// spending is the earliest time of the next write, by kind of object.
type spending struct{ blocks, handles, others time.Time }

// spend waits until the budget allows a write of that kind, and reserves it.
func (x *Executor) spend(ctx context.Context, k model.Kind) error {
	next, rate := &x.spent.others, x.Budget.Others
	switch k {
	case model.KindBlock:
		next, rate = &x.spent.blocks, x.Budget.Blocks
	case model.KindHandle:
		next, rate = &x.spent.handles, x.Budget.Handles
	default:
	}
	if rate <= 0 {
		return ctx.Err()
	}
	now := x.Now()
	if wait := next.Sub(now); wait > 0 {
		if err := x.Sleep(ctx, min(wait, time.Duration(float64(time.Second)/rate)+time.Second)); err != nil {
			return err
		}
		now = x.Now()
	}
	*next = now.Add(time.Duration(float64(time.Second) / rate))
	return ctx.Err()
}
