package plugin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plumbline.dev/plumbline/internal/guard"
)

// del asks the record whose the name is, and does what the table says. Without a record
// it is handed on.
func (s *session) del(ctx context.Context) *answer {
	s.complete()
	s.announce()
	d, known, err := s.decide(ctx, guard.Decide)
	if err == nil && d.Wait > 0 {
		again := d.Again
		ended := s.await(ctx, known.Own, d.Wait)
		d, known, err = s.decide(ctx, guard.Decide) // the wait is over, whatever it says
		if ended {
			d.Again = again
		}
	}
	if err != nil {
		s.trouble("read the record", err)
		return s.pass(ctx)
	}
	s.reach("decided")
	if d.Again > 0 {
		s.queued("its ADD was cut off, and may finish later", d.Again)
	}
	if !d.Forward {
		return s.withhold(ctx, &d, known.Own)
	}
	a := s.confirmed(ctx, &d, known.Newest)
	s.reach("answered")
	if a.ok() {
		s.gone(known.Own)
		return a
	}
	return s.refused(ctx, a, known)
}

// confirmed hands the DEL on and, if it is not the newest owner's, sees whether that one
// has all that it had.
func (s *session) confirmed(ctx context.Context, d *guard.Decision, newest *guard.Owner) *answer {
	if !d.Confirm {
		return s.pass(ctx)
	}
	before := s.lacks(ctx, newest)
	a := s.pass(ctx)
	s.confirm(before, s.lacks(ctx, newest))
	return a
}

// complete takes from the record what its ADD said and the call may not: runtimes need not
// tell the pod again, and what is late is late without it.
func (s *session) complete() {
	if o := s.owned(); o != nil && o.Pod != "" {
		s.call.Namespace, s.call.Pod, s.call.UID = o.Namespace, o.Pod, o.UID
	}
}

// decide reads the record and decides by it.
func (s *session) decide(ctx context.Context, by func(guard.Call, guard.Known) guard.Decision) (guard.Decision, guard.Known, error) {
	k := guard.Known{Mode: s.as, Keyed: guard.NotKnown}
	if s.db == nil {
		return guard.Decision{Forward: true, Says: "without a record"}, k, nil
	}
	var err error
	if k.Own, err = s.db.Owner(s.call.Key()); err != nil {
		return guard.Decision{}, k, err
	}
	if k.Newest, err = s.db.Newest(s.call.Name()); err != nil {
		return guard.Decision{}, k, err
	}
	if o := k.Own; o != nil && o.State == guard.Adding {
		k.Running = alive(s.Proc, o.PID, o.Start)
	}
	d := by(s.call, k)
	if d.Late { // only then it matters what the delegate goes by
		k.Keyed = s.goesBy(ctx)
		d = by(s.call, k)
	}
	s.event.Rule, s.event.Late, s.event.Says, s.event.Keyed = d.Rule, d.Late, d.Says, k.Keyed
	return d, k, nil
}

// gone records that a DEL succeeded.
func (s *session) gone(own *guard.Owner) {
	if own == nil {
		return
	}
	o := *own
	o.State = guard.Deleted
	s.trouble("record the DEL", s.db.End(o))
}

// withhold keeps a late DEL from the delegate, which would hit the name's new owner. What
// is inside the old namespace nobody else has, nor what is the container's by its ID. The
// rest is queued before anything is done, and stays so until the name is free. If that
// cannot be, the runtime must come again: neither harm nor a lie.
func (s *session) withhold(ctx context.Context, d *guard.Decision, own *guard.Owner) *answer {
	if d.Queue && !s.queued("late: the name has a newer owner", time.Minute) {
		return &answer{trouble: errors.New("a late DEL was not handed on, and could not be queued")}
	}
	s.reach("withheld")
	if d.Inside && own != nil && (s.call.NetNS == "" || s.call.NetNS == own.NetNS) {
		switch err := unplug(ctx, own); {
		case err == nil:
			s.did("deleted %s in its own namespace", own.IfName)
		case !errors.Is(err, errNoNamespace):
			s.trouble("delete "+own.IfName+" in its own namespace", err)
		}
	}
	if d.Unnamed {
		a := s.unnamed(ctx)
		if !a.ok() {
			return a // its errors never become a success
		}
		s.did("released what is the container's")
	}
	s.gone(own)
	return &answer{}
}

// refused passes an error on, unless nothing is left that a DEL could do.
func (s *session) refused(ctx context.Context, a *answer, known guard.Known) *answer {
	if s.as != guard.Enforce || known.Own == nil || a.trouble != nil {
		return a
	}
	if !guard.ShouldSucceed(s.call, known, delegateError(a), provenGone(ctx, s.Proc, known.Own)) || !s.queued("its DEL does not succeed, and its namespace is gone", 0) {
		return a
	}
	s.event.Rule = 11
	s.event.Error = wrong(a)
	s.did("answered with success: the namespace is gone, and the rest is queued")
	s.gone(known.Own)
	return &answer{said: a.said}
}

func (s *session) did(format string, args ...any) {
	s.event.Did = append(s.event.Did, fmt.Sprintf(format, args...))
}
