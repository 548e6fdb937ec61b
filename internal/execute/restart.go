package execute

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
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

// restart executes a step that restarts a pod of a DaemonSet. Before the first of a run it waits until all others are Ready, which
// an earlier run or another one may have restarted, and after each until that one is.
func (x *Executor) restart(ctx context.Context, s *repair.Step, c *change.Restart) (Verdict, error) {
	if x.DryRun {
		return x.update(ctx, s)
	}
	if err := x.awaitOthers(ctx); err != nil {
		return Verdict{}, err
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
	x.doubt(s)
	return v, nil
}

// doubt leaves it open whether what a restart was for is repaired, if one does not become Ready.
func (x *Executor) doubt(s *repair.Step) {
	if x.stuck == "" {
		return
	}
	for _, f := range s.For {
		x.drop(f, repair.Unknown, "restarted, but "+x.stuck)
	}
}

// recheck looks again at a step that an earlier run has done: a calico-node that it restarted may not have become Ready.
func (x *Executor) recheck(ctx context.Context, s *repair.Step) error {
	if _, ok := s.Change.(*change.Restart); !ok || x.DryRun {
		return nil
	}
	err := x.awaitOthers(ctx)
	x.doubt(s)
	return err
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
			x.stuck = fmt.Sprintf("%s is not Ready on %s %s after it was started%s: check it before another node's is restarted", r.owner, r.node, readyWithin, why)
			return nil
		}
		if err := x.Sleep(ctx, readyEvery); err != nil {
			return fmt.Errorf("%w: %w", errHalted, err)
		}
	}
}

// awaitOthers waits, once in a run, until every calico-node is Ready whose node is. Those that this plan is about to restart need not be.
func (x *Executor) awaitOthers(ctx context.Context) error {
	if x.othersReady {
		return nil
	}
	x.othersReady = true
	all, err := x.Pods.CalicoNodes(ctx)
	if err != nil {
		x.stuck = "list the pods of calico-node: " + err.Error()
		return ctx.Err()
	}
	for _, o := range all {
		p, err := change.ReadPod(o)
		if err != nil {
			x.stuck = "read a pod of calico-node: " + err.Error()
			return nil
		}
		if p.Owner != change.RestartOwner || p.Finished() || p.Ready && !p.Deleted || x.restarts(o) || x.stuck != "" {
			continue
		}
		n, err := x.Kube.Get(ctx, model.Ref{Kind: model.KindNode, Name: p.Node})
		var body model.NodeBody
		if err == nil && (!n.There() || json.Unmarshal(n.Body, &body) == nil && !body.Ready) {
			continue // it is down, or was removed
		}
		if err := x.awaitReady(ctx, restarted{p.Node, p.Owner, true}); err != nil {
			return err
		}
	}
	return nil
}

// restarts reports whether the plan restarts a pod that nobody has restarted yet.
func (x *Executor) restarts(o model.Object) bool {
	p, err := change.ReadPod(o)
	return err == nil && !p.Deleted && slices.ContainsFunc(x.plan.Steps, func(s repair.Step) bool {
		c, ok := s.Change.(*change.Restart)
		return ok && s.On == o.Ref && c.UID == o.UID
	})
}
