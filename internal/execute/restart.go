package execute

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/change"
)

// After a restart the DaemonSet's next pod must be Ready before another node's is restarted: if
// its image is gone or the datastore is ill, one node has lost its calico-node, not all.
const (
	readyWithin = 5 * time.Minute
	readyEvery  = 2 * time.Second
)

// A restarted names the pod of a DaemonSet on a node.
type restarted struct {
	node, owner string
	ready       bool // before it was restarted: one that was not need not become
}

// restart executes a step that restarts a pod of a DaemonSet. It waits until those restarted
// before are Ready, also by an earlier run of the plan, and after its own until that one is.
func (x *Executor) restart(ctx context.Context, s *repair.Step, c *change.Restart) (Verdict, error) {
	if x.DryRun {
		return x.update(ctx, s)
	}
	for len(x.restarts) > 0 && x.stuck == "" {
		if err := x.awaitReady(ctx, x.restarts[0]); err != nil {
			return Verdict{}, err
		}
		x.restarts = x.restarts[1:]
	}
	if x.stuck != "" {
		return x.leave(s, repair.Refused, x.stuck)
	}
	o, err := x.Kube.Get(ctx, s.On)
	if err != nil {
		return x.giveUp(s, repair.Failed, err.Error())
	}
	v, err := x.update(ctx, s)
	if err != nil || v.Outcome != repair.Done {
		return v, err
	}
	p, err := change.ReadPod(o)
	if err != nil || !o.There() || o.UID != c.UID {
		return v, nil // it was gone before
	}
	if err := x.awaitReady(ctx, restarted{p.Node, p.Owner, p.Ready}); err != nil {
		return Verdict{}, err
	}
	if x.stuck != "" {
		for _, f := range s.For {
			x.drop(f, repair.Unknown, "restarted, but "+x.stuck)
		}
	}
	return v, nil
}

// awaitReady waits until the owner has a Ready pod on the node: the one that was deleted is
// terminating or gone. It sets stuck if there is none in time. An error ends the run.
func (x *Executor) awaitReady(ctx context.Context, r restarted) error {
	end := x.Now().Add(readyWithin)
	for {
		why := ""
		pods, err := x.Pods.PodsOn(ctx, r.node)
		if err != nil {
			why = ": " + err.Error()
		}
		if n, gone := x.Kube.Get(ctx, model.Ref{Kind: model.KindNode, Name: r.node}); err == nil && gone == nil && len(pods) == 0 && !n.There() {
			return nil // the node was removed
		}
		for _, o := range pods {
			p, err := change.ReadPod(o)
			if err == nil && p.Owner == r.owner && (p.Ready || !r.ready) && !p.Deleted {
				return nil
			}
		}
		if x.Now().After(end) {
			x.stuck = fmt.Sprintf("%s is not Ready on %s %s after it was restarted%s: check it before another node's is restarted", r.owner, r.node, readyWithin, why)
			return nil
		}
		if err := x.Sleep(ctx, readyEvery); err != nil {
			return fmt.Errorf("%w: %w", errHalted, err)
		}
	}
}

// recallRestarts finds the last pod that earlier runs of the plan restarted, or may have.
func (x *Executor) recallRestarts(past []repair.Entry) {
	x.restarts, x.stuck = nil, ""
	for i := range past {
		e := &past[i]
		if e.Outcome != repair.Intent || e.Undo || e.Step <= 0 || e.Step > len(x.plan.Steps) {
			continue
		}
		_, ok := x.plan.Steps[e.Step-1].Change.(*change.Restart)
		var was change.Restarted
		if !ok || json.Unmarshal(e.Was, &was) != nil || was.Node == "" {
			continue
		}
		x.restarts = []restarted{{was.Node, was.Owner, was.Ready}} // those before it were waited for
	}
}
