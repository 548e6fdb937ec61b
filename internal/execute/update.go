package execute

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/change"
)

// update executes a step on an object of a store. It is the only way in which such an object
// is changed. In this order:
//
//  1. ready: budget and Halt.
//  2. scene: read the object, then the objects that the step depends on.
//  3. Edit: compare the conditions, compute the write.
//  4. unproven, spared: verify the proofs. They must come after 2: see prove.
//  5. reedit, for counts of handles: read the blocks again after 4, if a node was asked in 4.
//  6. write: journal the Intent, write at the revision of 2, journal the outcome.
//
// If another writer was first, or there was no answer, it starts again at 1, at most maxTries
// times. A crash before 6 leaves nothing; a crash in 6 leaves an Intent without an outcome.
func (x *Executor) update(ctx context.Context, s *repair.Step) (Verdict, error) {
	lost := false // an earlier try may have done the write
	unread := errors.New("other writers changed the object during every try")
	for try := range maxTries {
		if err := x.ready(ctx, s, try); err != nil {
			return Verdict{}, err
		}
		asked := x.asks
		sc, err := x.scene(ctx, s)
		if err != nil {
			if ctx.Err() != nil {
				return Verdict{}, fmt.Errorf("%w: %w", errHalted, ctx.Err())
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
		case errors.Is(err, change.ErrAlready):
			return x.already(s, lost)
		case errors.Is(err, change.ErrMoved):
			return x.moved(s, err)
		case err != nil: // an object cannot be parsed
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
		if _, count := s.Change.(*change.Count); count && x.asks != asked {
			// The write compares the revision of the handle, not of the blocks that were counted.
			// So read the blocks again, after the nodes verified that no CNI call is about to
			// write one. If they had verified it before the scene was read, it is true of it.
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
		case errors.Is(err, errJournal), errors.Is(err, errHalted):
			return Verdict{}, err
		case errors.Is(err, ErrRefused):
			return x.giveUp(s, repair.Failed, err.Error())
		default:
			// Also ErrStale: a client may send a request twice, and the second is rejected as
			// stale although the first was done. If the next try finds the wanted state, we take
			// it as our write. Not for a release: Calico may have released the address and lowers
			// the count of its handle afterwards; an undo would allocate the address to a handle
			// that Calico is about to delete.
			lost = lost || !errors.Is(err, ErrStale) || !s.Frees()
		}
	}
	return x.giveUp(s, repair.Failed, unread.Error())
}

// ready waits for the budget (on a retry also for a backoff) and calls Halt.
func (x *Executor) ready(ctx context.Context, s *repair.Step, try int) error {
	if try > 0 {
		if err := x.Sleep(ctx, min(time.Second, 20*time.Millisecond<<try)); err != nil {
			return fmt.Errorf("%w: %w", errHalted, err)
		}
	}
	if err := x.spend(ctx, s.On.Kind); err != nil {
		return fmt.Errorf("%w: %w", errHalted, err)
	}
	if err := x.Halt(ctx); err != nil {
		return fmt.Errorf("%w: %w", errHalted, err)
	}
	return nil
}

// errUnreadable means that an object cannot be parsed: retrying does not help.
var errUnreadable = errors.New("the object cannot be parsed")

// scene reads the object of the step, and after it the objects that Edit needs.
func (x *Executor) scene(ctx context.Context, s *repair.Step) (change.Scene, error) {
	sc := change.Scene{Keep: x.keep, Etcd: x.Etcd, Now: model.At(x.Now()), Also: map[model.Ref]model.Object{}}
	var err error
	if sc.Live, err = x.store(s.On.Kind).Get(ctx, s.On); err != nil {
		return sc, err
	}
	refs, err := s.Reads(sc.Live)
	if err != nil {
		return sc, fmt.Errorf("%w: %w", errUnreadable, err)
	}
	for _, r := range refs {
		if sc.Also[r], err = x.also(ctx, s, sc.Live, r); err != nil {
			return sc, err
		}
	}
	return sc, nil
}

// reedit reads the other objects of the scene again and computes the edit again.
func (x *Executor) reedit(ctx context.Context, s *repair.Step, sc change.Scene) (change.Edited, error) {
	for r := range sc.Also {
		o, err := x.also(ctx, s, sc.Live, r)
		if err != nil {
			return change.Edited{}, err
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

// unproven verifies the proofs of all findings that the edit serves, and drops those that
// fail. It is true if any failed: then the step starts again without them. Steps with Always
// need no verification.
func (x *Executor) unproven(ctx context.Context, s *repair.Step, e change.Edited) (bool, error) {
	if s.Always {
		return false, nil // it only sets a handle to what the blocks hold
	}
	failed, err := x.prove(ctx, e.For, &e)
	if err != nil {
		return false, err
	}
	for f, v := range failed {
		x.drop(f, repair.Refused, v.Why)
	}
	return len(failed) > 0, nil
}

// spared verifies, before an eviction, that the pod still has the duplicate addresses. If not
// (its sandbox was replaced, or it is being deleted) the step is Moved and nothing is written.
func (x *Executor) spared(ctx context.Context, s *repair.Step) (Verdict, error) {
	c, evicts := s.Change.(*change.Evict)
	if !evicts {
		return Verdict{}, nil
	}
	v, err := x.hold(ctx, &change.Proof{Running: &c.Has})
	if err != nil || v.Outcome == "" {
		return v, err
	}
	if v.Outcome != repair.Refused {
		return x.giveUp(s, repair.Refused, v.Why)
	}
	return Verdict{repair.Moved, v.Why}, x.log(repair.Entry{Step: s.ID, Outcome: repair.Moved, Why: v.Why})
}

// ended waits until an evicted pod is gone, so that two pods of one StatefulSet do not
// terminate at once. If it is not gone after two minutes, no further pod is evicted.
func (x *Executor) ended(ctx context.Context, s *repair.Step) error {
	c, evicts := s.Change.(*change.Evict)
	if !evicts || x.DryRun {
		return nil
	}
	for range 120 {
		o, err := x.Kube.Get(ctx, s.On)
		if err == nil && (!o.There() || o.UID != c.UID) {
			return nil
		}
		if err := x.Sleep(ctx, time.Second); err != nil {
			return fmt.Errorf("%w: %w", errHalted, err)
		}
	}
	x.evicted = &model.Object{Ref: s.On, UID: c.UID}
	return nil
}

// lingers refuses an eviction while the pod that was evicted before still terminates.
func (x *Executor) lingers(ctx context.Context, s *repair.Step) (Verdict, error) {
	if x.evicted == nil || x.DryRun {
		return Verdict{}, nil
	}
	o, err := x.Kube.Get(ctx, x.evicted.Ref)
	if err != nil {
		return x.giveUp(s, repair.Failed, err.Error())
	}
	if p, err := change.ReadPod(o); o.There() && o.UID == x.evicted.UID && (err != nil || p.Deleted) {
		return x.leave(s, repair.Refused, o.Ref.Name+", which was evicted before, still terminates: run apply --resume when it is gone")
	}
	x.evicted = nil
	return Verdict{}, nil
}

// recallEvictions finds the last pod that earlier runs of the plan evicted, or may have.
func (x *Executor) recallEvictions(past []repair.Entry) {
	x.evicted = nil
	for i := range past {
		e := &past[i]
		if e.Outcome != repair.Intent || e.Undo || e.Step <= 0 || e.Step > len(x.plan.Steps) {
			continue
		}
		if c, ok := x.plan.Steps[e.Step-1].Change.(*change.Evict); ok {
			x.evicted = &model.Object{Ref: x.plan.Steps[e.Step-1].On, UID: c.UID}
		}
	}
}

// write journals the Intent, writes, and journals the outcome. When it sends the write, the
// Intent is on disk. It marks the findings as written if the write was or may have been done.
// If only the outcome cannot be journalled, the returned error is errJournal although the
// write was done: the next Run sees an Intent without an outcome.
func (x *Executor) write(ctx context.Context, s *repair.Step, e change.Edited) error {
	if err := x.Halt(ctx); err != nil { // verification may have taken long
		return fmt.Errorf("%w: %w", errHalted, err)
	}
	in := repair.Entry{Step: s.ID, Outcome: repair.Intent, For: e.For, UID: e.Object.UID, Revision: e.Object.Revision, Was: e.Was, Now: e.Now}
	if err := x.log(in); err != nil {
		return err
	}
	out := repair.Entry{Step: s.ID, Outcome: repair.Done, For: e.For}
	now, err := x.send(ctx, s, e)
	out.Revision, out.UID = now.Revision, now.UID
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

// send sends the write and gives the object as written; the zero Object after a deletion.
func (x *Executor) send(ctx context.Context, s *repair.Step, e change.Edited) (model.Object, error) {
	store := x.store(s.On.Kind)
	if s.On.Kind == model.KindBlock {
		x.counted = counted{}
	}
	if !e.Delete {
		return store.Put(ctx, e.Object)
	}
	if c, restarts := s.Change.(*change.Restart); restarts {
		if r, ok := x.Kube.(restarter); ok {
			return model.Object{}, r.RestartPod(ctx, s.On, c.UID)
		}
	}
	return model.Object{}, store.Delete(ctx, e.Object)
}

func (x *Executor) dropMoved(e change.Edited) {
	for f, why := range e.Dropped {
		x.drop(f, repair.Moved, why)
	}
}

// already ends a step whose object has the wanted state: Done if an earlier try may have written it (lost), else Already.
func (x *Executor) already(s *repair.Step, lost bool) (Verdict, error) {
	o := repair.Already
	why := ""
	if lost {
		o, why = repair.Done, "an earlier try of this step did it; its answer was lost or late"
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

// moved ends a step whose conditions no longer hold, and drops its findings (not for Always).
func (x *Executor) moved(s *repair.Step, err error) (Verdict, error) {
	why := strings.TrimPrefix(err.Error(), change.ErrMoved.Error()+": ")
	for _, f := range s.For {
		if !s.Always {
			x.drop(f, repair.Moved, why)
		}
	}
	return Verdict{repair.Moved, why}, x.log(repair.Entry{Step: s.ID, Outcome: repair.Moved, Why: why})
}

// leave ends a step and drops its findings. The reason concerns only this step, so it does
// not count as failing.
func (x *Executor) leave(s *repair.Step, o repair.Outcome, why string) (Verdict, error) {
	for _, f := range s.For {
		x.drop(f, o, why)
	}
	return Verdict{o, why}, x.log(repair.Entry{Step: s.ID, Outcome: o, Why: why})
}

// giveUp is leave for a step whose reads or writes failed. maxFailing of them in a row end the
// run with errTooMany: the cause probably concerns all steps.
func (x *Executor) giveUp(s *repair.Step, o repair.Outcome, why string) (Verdict, error) {
	x.failing++
	v, err := x.leave(s, o, why)
	if err == nil && x.failing >= maxFailing {
		err = fmt.Errorf("%w; last: %s", errTooMany, why)
	}
	return v, err
}
