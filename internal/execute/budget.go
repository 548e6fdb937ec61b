package execute

import (
	"context"
	"time"

	"plumbline.dev/plumbline/internal/model"
)

// A Budget bounds writes in a second. Every Felix of the cluster hears each write of a
// block; nobody but Calico's controllers hears one of a handle.
type Budget struct {
	Blocks, Handles, Others float64
}

// Default is what is used where nothing is said.
var Default = Budget{Blocks: 10, Handles: 100, Others: 20}

// spending is when the next write of each kind may be.
type spending struct{ blocks, handles, others time.Time }

// spend waits for its turn.
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
