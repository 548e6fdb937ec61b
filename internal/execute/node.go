package execute

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/change"
)

// A NodeWriter changes node objects through the agents.
type NodeWriter interface {
	// NodeObject reads one object of a node. Its revision is a digest of what identifies it.
	NodeObject(ctx context.Context, node string, r model.Ref, args map[string]string) (model.Object, error)
	// Change changes the object if it still has that revision: the agent verifies and changes
	// atomically. ErrStale and ErrRefused mean that nothing was done; any other error leaves
	// it open. already: the object had the wanted state.
	Change(ctx context.Context, node, verb string, object model.Object, args map[string]string, dryRun bool) (already bool, err error)
	// Routed reports whether the kernel of a node routes the address to the interface.
	Routed(ctx context.Context, a change.Await) (bool, error)
}

// onNode executes a step that changes a node, through its agent: read the object, verify the
// proofs of the plan and what the object itself demands (change.Acting), journal, change. The kernel has no revisions: the agent compares the digest and
// changes in one call, so the time between the two is short but not zero. On ErrStale and on
// no answer it starts again; if a later try finds the object gone or changed as wanted, the
// step is Done.
func (x *Executor) onNode(ctx context.Context, s *repair.Step, c *change.OnNode) (Verdict, error) {
	node := s.On.OnNode()
	if x.NodeWriter == nil || node == "" {
		return x.giveUp(s, repair.Refused, "no agent on the node can do it")
	}
	for try := range maxTries {
		if err := x.ready(ctx, s, try); err != nil {
			return Verdict{}, err
		}
		object, err := x.NodeWriter.NodeObject(ctx, node, s.On, c.Args)
		if err != nil {
			return x.giveUp(s, repair.Failed, err.Error())
		}
		if !object.There() && c.Verb == "sysctl" {
			return x.giveUp(s, repair.Moved, "the interface is gone")
		}
		if !object.There() {
			return x.already(s, try > 0)
		}
		acts := c.Acting(s.On, object)
		failed, err := x.prove(ctx, s.For, &change.Edited{Object: object, For: s.For, Acts: &acts})
		if err != nil {
			return Verdict{}, err
		}
		for f, v := range failed {
			x.drop(f, repair.Refused, v.Why)
		}
		if why, skip := x.idle(s); skip {
			return Verdict{repair.Refused, why}, x.log(repair.Entry{Step: s.ID, Outcome: repair.Refused, Why: why})
		}
		v, again, err := x.change(ctx, s, c, node, object)
		if err == nil && !again && v.Outcome == repair.Already && try > 0 {
			v = Verdict{repair.Done, "an earlier try of this step did it; its answer was lost or late"}
		}
		if err != nil || !again {
			return v, err
		}
	}
	return x.giveUp(s, repair.Failed, "the object changed during every try")
}

// change journals the Intent, has the agent do the change, and journals the outcome. A crash
// in between leaves an Intent without an outcome. again: start the step again.
func (x *Executor) change(ctx context.Context, s *repair.Step, c *change.OnNode, node string, object model.Object) (v Verdict, again bool, err error) {
	if err := x.Halt(ctx); err != nil { // verification may have taken long
		return Verdict{}, false, fmt.Errorf("%w: %w", errHalted, err)
	}
	in := repair.Entry{Step: s.ID, Outcome: repair.Intent, For: s.For, Revision: object.Revision, Was: object.Body}
	if err := x.log(in); err != nil {
		return Verdict{}, false, err
	}
	done, err := x.NodeWriter.Change(ctx, node, c.Verb, object, c.Args, x.DryRun)
	out := repair.Entry{Step: s.ID, Outcome: repair.Done, For: s.For}
	switch {
	case err == nil && done:
		out.Outcome = repair.Already
	case err == nil:
	case errors.Is(err, ErrStale):
		out.Outcome, out.Why, again = repair.Stale, err.Error(), true
	case errors.Is(err, ErrRefused):
		v, err := x.leave(s, repair.Refused, err.Error())
		return v, false, err
	default:
		out.Outcome, out.Why, again = repair.Unknown, err.Error(), true
	}
	if out.Outcome == repair.Done || out.Outcome == repair.Already {
		x.failing = 0
	}
	if out.Outcome == repair.Done || out.Outcome == repair.Unknown {
		x.wrote(s.For)
	}
	return Verdict{out.Outcome, out.Why}, again, x.log(out)
}

// await waits until Felix has set a route. It writes nothing; on a timeout the findings are dropped as Unknown and not undone.
func (x *Executor) await(ctx context.Context, s *repair.Step, a *change.Await) (Verdict, error) {
	if x.NodeWriter == nil || x.DryRun {
		return Verdict{repair.Moved, "not waited for (dry run, or no agents)"}, nil
	}
	end := x.Now().Add(time.Duration(a.Seconds) * time.Second)
	for {
		ok, err := x.NodeWriter.Routed(ctx, *a)
		if ok {
			return Verdict{Outcome: repair.Done}, x.log(repair.Entry{Step: s.ID, Outcome: repair.Done})
		}
		if x.Now().After(end) {
			why := fmt.Sprintf("the route is not set after %ds", a.Seconds)
			if err != nil {
				why += ": " + err.Error()
			}
			for _, f := range s.For {
				x.drop(f, repair.Unknown, "written, but "+why)
			}
			return Verdict{repair.Unknown, why}, x.log(repair.Entry{Step: s.ID, Outcome: repair.Unknown, Why: why})
		}
		if err := x.Sleep(ctx, 250*time.Millisecond); err != nil {
			return Verdict{}, fmt.Errorf("%w: %w", errHalted, err)
		}
	}
}
