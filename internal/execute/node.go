package execute

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
)

// NodeWriter are the agents where they change something of their node.
type NodeWriter interface {
	// Thing reads one thing of a node; its revision is a digest of what matters of it.
	NodeObject(ctx context.Context, node string, r model.Ref, args map[string]string) (model.Object, error)
	// Change does it, if the thing still has that digest; the agent compares again in the
	// same breath. ErrStale and ErrRefused mean that nothing was done.
	Change(ctx context.Context, node, verb string, thing model.Object, args map[string]string, dryRun bool) (already bool, err error)
	// Routed tells whether the kernel of a node sends packets for an address to a device.
	Routed(ctx context.Context, a repair.Await) (bool, error)
}

// onNode changes something of a node through its agent. A kernel has no revisions: the
// window between comparing and changing is the agent's, and small.
func (x *Executor) onNode(ctx context.Context, s *repair.Step) (Verdict, error) {
	node := s.On.OnNode()
	if x.NodeWriter == nil || node == "" {
		return x.giveUp(s, repair.Refused, "nobody is there to do it on the node")
	}
	for try := range maxTries {
		if err := x.ready(ctx, s, try); err != nil {
			return Verdict{}, err
		}
		thing, err := x.NodeWriter.NodeObject(ctx, node, s.On, s.Node.Args)
		if err != nil {
			return x.giveUp(s, repair.Failed, err.Error())
		}
		if !thing.There() && s.Node.Verb == "sysctl" {
			return x.giveUp(s, repair.Moved, "the device is gone")
		}
		if !thing.There() {
			return x.already(s, try > 0)
		}
		failed, err := x.prove(ctx, s.For)
		if err != nil {
			return Verdict{}, err
		}
		for f, v := range failed {
			x.drop(f, repair.Refused, v.Why)
		}
		if why, skip := x.idle(s); skip {
			return Verdict{repair.Refused, why}, x.log(repair.Entry{Step: s.ID, Outcome: repair.Refused, Why: why})
		}
		v, again, err := x.change(ctx, s, node, thing)
		if err == nil && !again && v.Outcome == repair.Already && try > 0 {
			v = Verdict{repair.Done, "its answer was lost, or came too late"}
		}
		if err != nil || !again {
			return v, err
		}
	}
	return x.giveUp(s, repair.Failed, "it changes again and again")
}

func (x *Executor) change(ctx context.Context, s *repair.Step, node string, thing model.Object) (v Verdict, again bool, err error) {
	if err := x.Halt(ctx); err != nil { // the proofs may have taken long
		return Verdict{}, false, fmt.Errorf("%w: %w", ErrHalted, err)
	}
	in := repair.Entry{Step: s.ID, Outcome: repair.Intent, For: s.For, Revision: thing.Revision, Was: thing.Body}
	if err := x.log(in); err != nil {
		return Verdict{}, false, err
	}
	done, err := x.NodeWriter.Change(ctx, node, s.Node.Verb, thing, s.Node.Args, x.DryRun)
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

// await waits for what others do about it: no write of ours.
func (x *Executor) await(ctx context.Context, s *repair.Step) (Verdict, error) {
	if x.NodeWriter == nil || x.DryRun {
		return Verdict{repair.Moved, "not waited for"}, nil
	}
	end := x.Now().Add(time.Duration(s.Await.Seconds) * time.Second)
	for {
		ok, err := x.NodeWriter.Routed(ctx, *s.Await)
		if ok {
			return Verdict{Outcome: repair.Done}, x.log(repair.Entry{Step: s.ID, Outcome: repair.Done})
		}
		if x.Now().After(end) {
			why := "not so after the time that it should take"
			if err != nil {
				why += ": " + err.Error()
			}
			for _, f := range s.For {
				x.drop(f, repair.Unknown, "written, but "+why)
			}
			return Verdict{repair.Unknown, why}, x.log(repair.Entry{Step: s.ID, Outcome: repair.Unknown, Why: why})
		}
		if err := x.Sleep(ctx, 250*time.Millisecond); err != nil {
			return Verdict{}, fmt.Errorf("%w: %w", ErrHalted, err)
		}
	}
}
