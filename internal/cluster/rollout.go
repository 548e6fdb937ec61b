package cluster

import (
	"context"
	"errors"
	"time"

	"plumbline.dev/plumbline/internal/kube"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
	"plumbline.dev/plumbline/internal/repair/planner"
)

// rolloutFor is how long an answer about Calico's workloads is valid: a rollout takes longer to
// bring another version into the cluster than this.
const rolloutFor = 5 * time.Second

// A rollout watches that Calico's version stays the one that was judged.
type rollout struct {
	client  *kube.Client
	calico  string // the cluster's version when the plan was taken
	matters bool   // the plan writes what Calico writes too
	now     func() time.Time
	last    time.Time
}

// steady returns an error while a component of Calico has, or is about to get, another version.
func (r *rollout) steady(ctx context.Context) error {
	if !r.matters {
		return nil
	}
	now := r.now()
	if age := now.Sub(r.last); !r.last.IsZero() && age >= 0 && age < rolloutFor {
		return nil
	}
	var b model.Builder
	if _, err := (kube.Components{Client: r.client}).Collect(ctx, &b); err != nil && !errors.Is(err, observe.ErrNotThere) {
		return err
	}
	if why := planner.MixedComponent(b.Snapshot().Components, r.calico); why != "" {
		return errors.New(why)
	}
	r.last = now
	return nil
}
