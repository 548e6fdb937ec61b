package execute

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
)

// swap is the one way in which an object is changed: read it live, compare, have the
// witnesses speak, journal, write if nobody else has written since. On a conflict all of it
// begins anew. The record is read before the witnesses are asked: only then do they prove
// anything about it.
func (x *Executor) swap(ctx context.Context, s *repair.Step) (Verdict, error) {
	lost := false // the answer to a write of ours
	unread := errors.New("others write it again and again")
	for try := range maxTries {
		if err := x.ready(ctx, s, try); err != nil {
			return Verdict{}, err
		}
		sc, err := x.scene(ctx, s)
		if err != nil {
			if ctx.Err() != nil {
				return Verdict{}, fmt.Errorf("%w: %w", ErrHalted, ctx.Err())
			}
			if errors.Is(err, errUnreadable) {
				return x.leave(s, repair.Refused, err.Error())
			}
			unread = err
			continue
		}
		e, err := s.Edit(sc)
		x.dropMoved(e)
		switch {
		case errors.Is(err, repair.ErrAlready):
			return x.already(s, lost)
		case errors.Is(err, repair.ErrMoved):
			return x.moved(s, err)
		case err != nil: // it cannot be read
			return x.leave(s, repair.Refused, err.Error())
		}
		if again, err := x.unproven(ctx, s, e); err != nil {
			return Verdict{}, err
		} else if again {
			continue
		}
		if v, err := x.spared(ctx, s); err != nil || v.Outcome != "" {
			return v, err
		}
		if s.Count != nil {
			// The blocks that it counts are not what is compared: they must be read after the
			// nodes have said that nobody is about to write one.
			if e, err = x.reedit(ctx, s, sc); err != nil {
				unread = err
				continue
			}
		}
		err = x.write(ctx, s, e)
		switch {
		case err == nil:
			x.failing = 0
			return Verdict{Outcome: repair.Done}, x.ended(ctx, s)
		case errors.Is(err, ErrJournal), errors.Is(err, ErrHalted):
			return Verdict{}, err
		case errors.Is(err, ErrRefused):
			return x.giveUp(s, repair.Failed, err.Error())
		default:
			// Stale too: a request that was sent twice is refused the second time. If the next
			// look finds it so, it may well have been the first. But what only frees may as well
			// have been freed by Calico, which counts its handle down afterwards: to take that
			// back would give the address to a handle that is about to go.
			lost = lost || !errors.Is(err, ErrStale) || !s.Frees()
		}
	}
	return x.giveUp(s, repair.Failed, unread.Error())
}

// ready waits for the budget and asks whether anybody wants us to stop.
func (x *Executor) ready(ctx context.Context, s *repair.Step, try int) error {
	if try > 0 {
		if err := x.Sleep(ctx, min(time.Second, 20*time.Millisecond<<try)); err != nil {
			return fmt.Errorf("%w: %w", ErrHalted, err)
		}
	}
	if err := x.spend(ctx, s.On.Kind); err != nil {
		return fmt.Errorf("%w: %w", ErrHalted, err)
	}
	if err := x.Halt(ctx); err != nil {
		return fmt.Errorf("%w: %w", ErrHalted, err)
	}
	return nil
}

// errUnreadable means that an object is not what its kind should be.
var errUnreadable = errors.New("it cannot be read")

// scene reads the object, and after it what else the step must see.
func (x *Executor) scene(ctx context.Context, s *repair.Step) (repair.Scene, error) {
	sc := repair.Scene{Keep: x.keep, Etcd: x.Etcd, Now: model.At(x.Now()), Also: map[model.Ref]model.Object{}}
	var err error
	if sc.Live, err = x.store(s.On.Kind).Get(ctx, s.On); err != nil {
		return sc, err
	}
	refs, err := s.Also(sc.Live)
	if err != nil {
		return sc, fmt.Errorf("%w: %w", errUnreadable, err)
	}
	for _, r := range refs {
		if sc.Also[r], err = x.store(r.Kind).Get(ctx, r); err != nil {
			return sc, err
		}
	}
	return sc, nil
}

// reedit reads anew what a step must see besides its object, and computes it again.
func (x *Executor) reedit(ctx context.Context, s *repair.Step, sc repair.Scene) (repair.Edited, error) {
	for r := range sc.Also {
		o, err := x.store(r.Kind).Get(ctx, r)
		if err != nil {
			return repair.Edited{}, err
		}
		sc.Also[r] = o
	}
	return s.Edit(sc)
}

func (x *Executor) store(k model.Kind) Store {
	switch k {
	case model.KindPod, model.KindNode, model.KindService, model.KindVM:
		return x.Kube
	default:
		return x.Calico
	}
}

// unproven asks the witnesses of all findings that the edit serves. It tells to begin
// again if some of them fell away.
func (x *Executor) unproven(ctx context.Context, s *repair.Step, e repair.Edited) (bool, error) {
	if s.Always {
		return false, nil // it makes a record say what is
	}
	failed, err := x.prove(ctx, e.For)
	if err != nil {
		return false, err
	}
	for f, v := range failed {
		x.drop(f, repair.Refused, v.Why)
	}
	return len(failed) > 0, nil
}

// spared leaves a pod alone that does not share an address any more: its sandbox was
// replaced, or it ends.
func (x *Executor) spared(ctx context.Context, s *repair.Step) (Verdict, error) {
	if s.Evict == nil {
		return Verdict{}, nil
	}
	v, err := x.hold(ctx, &repair.Proof{Running: &s.Evict.Has})
	if err != nil || v.Outcome == "" {
		return v, err
	}
	if v.Outcome != repair.Refused {
		return x.giveUp(s, repair.Refused, v.Why)
	}
	return Verdict{repair.Moved, v.Why}, x.log(repair.Entry{Step: s.ID, Outcome: repair.Moved, Why: v.Why})
}

// ended waits until a pod that was evicted is gone, so that no two of a set end at once. One
// that takes longer ends by itself.
func (x *Executor) ended(ctx context.Context, s *repair.Step) error {
	if s.Evict == nil || x.DryRun {
		return nil
	}
	for range 120 {
		o, err := x.Kube.Get(ctx, s.On)
		if err == nil && (!o.There() || o.UID != s.Evict.UID) {
			return nil
		}
		if err := x.Sleep(ctx, time.Second); err != nil {
			return fmt.Errorf("%w: %w", ErrHalted, err)
		}
	}
	return nil
}

// write journals what is about to be done, does it, and journals what came of it.
func (x *Executor) write(ctx context.Context, s *repair.Step, e repair.Edited) error {
	if err := x.Halt(ctx); err != nil { // the proofs may have taken long
		return fmt.Errorf("%w: %w", ErrHalted, err)
	}
	in := repair.Entry{Step: s.ID, Outcome: repair.Intent, For: e.For, UID: e.Object.UID, Revision: e.Object.Revision, Was: e.Was, Now: e.Now}
	if err := x.log(in); err != nil {
		return err
	}
	out := repair.Entry{Step: s.ID, Outcome: repair.Done, For: e.For}
	var err error
	switch r, ok := x.Kube.(Restarter); {
	case e.Delete && s.Restart != nil && ok:
		err = r.RestartPod(ctx, s.On, s.Restart.UID)
	case e.Delete:
		err = x.store(s.On.Kind).Delete(ctx, e.Object)
	default:
		var now model.Object
		now, err = x.store(s.On.Kind).Put(ctx, e.Object)
		out.Revision, out.UID = now.Revision, now.UID
	}
	switch {
	case err == nil:
	case errors.Is(err, ErrStale):
		out.Outcome, out.Why = repair.Stale, err.Error()
	case errors.Is(err, ErrRefused):
		out.Outcome, out.Why = repair.Failed, err.Error()
	default:
		out.Outcome, out.Why = repair.Unknown, err.Error()
	}
	if out.Outcome == repair.Done || out.Outcome == repair.Unknown {
		x.wrote(e.For)
	}
	return errors.Join(err, x.log(out))
}

func (x *Executor) dropMoved(e repair.Edited) {
	for f, why := range e.Dropped {
		x.drop(f, repair.Moved, why)
	}
}

// already: the goal is reached. If we have tried to write before, it may be we who reached it.
func (x *Executor) already(s *repair.Step, lost bool) (Verdict, error) {
	o := repair.Already
	why := ""
	if lost {
		o, why = repair.Done, "its answer was lost, or came too late"
	}
	e := repair.Entry{Step: s.ID, Outcome: o, Why: why}
	for _, f := range s.For {
		if x.keep(f) {
			e.For = append(e.For, f)
		}
	}
	if lost {
		x.wrote(e.For)
	}
	return Verdict{o, why}, x.log(e)
}

func (x *Executor) moved(s *repair.Step, err error) (Verdict, error) {
	why := strings.TrimPrefix(err.Error(), repair.ErrMoved.Error()+": ")
	for _, f := range s.For {
		if !s.Always {
			x.drop(f, repair.Moved, why)
		}
	}
	return Verdict{repair.Moved, why}, x.log(repair.Entry{Step: s.ID, Outcome: repair.Moved, Why: why})
}

// leave leaves the findings of a step alone, for good. It is of this one, and no sign that
// others fail.
func (x *Executor) leave(s *repair.Step, o repair.Outcome, why string) (Verdict, error) {
	for _, f := range s.For {
		x.drop(f, o, why)
	}
	return Verdict{o, why}, x.log(repair.Entry{Step: s.ID, Outcome: o, Why: why})
}

// giveUp leaves a step whose write, or whose reading, failed. One after the other means
// that something is wrong with all of them.
func (x *Executor) giveUp(s *repair.Step, o repair.Outcome, why string) (Verdict, error) {
	x.failing++
	v, err := x.leave(s, o, why)
	if err == nil && x.failing >= maxFailing {
		err = fmt.Errorf("%w, at last: %s", ErrTooMany, why)
	}
	return v, err
}
