package plugin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plumbline.dev/plumbline/internal/guard"
)

// del decides by the ownership record. Without a record the DEL is passed on.
func (s *session) del(ctx context.Context) *answer {
	s.complete()
	s.announce()
	d, known, err := s.decide(ctx, guard.Decide)
	if err == nil && d.Wait > 0 {
		again := d.Again
		ended := s.await(ctx, known.Own, d.Wait)
		d, known, err = s.decide(ctx, guard.Decide) // do not wait again, whatever the decision says
		if ended {
			d.Again = again
		}
	}
	if err != nil {
		s.trouble("read the ownership record", err)
		return s.pass(ctx)
	}
	s.reach("decided")
	if d.Late && s.absent != nil && s.as == guard.Enforce {
		return &answer{trouble: s.absent} // the program may appear at any moment, in any version
	}
	if d.Again > 0 {
		s.queued("its ADD was ended and may still assign an address", d.Again)
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

// confirmed passes the DEL on and, if d.Confirm, checks the newest owner before and after.
func (s *session) confirmed(ctx context.Context, d *guard.Decision, newest *guard.Owner) *answer {
	if !d.Confirm {
		return s.pass(ctx)
	}
	before := s.lacks(ctx, newest)
	a := s.pass(ctx)
	s.confirm(before, s.lacks(ctx, newest))
	return a
}

// complete takes the pod from the record of the ADD: runtimes need not name it again in a
// DEL, and a DEL is late with or without the name.
func (s *session) complete() {
	if o := s.owned(); o != nil && o.Pod != "" {
		s.call.Namespace, s.call.Pod, s.call.UID = o.Namespace, o.Pod, o.UID
	}
}

// decide reads the ownership record and decides with it.
func (s *session) decide(ctx context.Context, by func(guard.Call, guard.Known) guard.Decision) (guard.Decision, guard.Known, error) {
	k := guard.Known{Mode: s.as, Keyed: guard.NotKnown}
	if s.db == nil {
		return guard.Decision{Forward: true, Says: "the guard could not open the ownership record"}, k, nil
	}
	var err error
	if k.Own, err = s.db.Owner(s.call.Key()); err != nil {
		return guard.Decision{}, k, err
	}
	if k.Newest, err = s.db.Newest(s.call.Name()); err != nil {
		if k.Newest == nil {
			return guard.Decision{}, k, err
		}
		s.trouble("read the ownership record of another sandbox of the pod", err) // the others still decide
		s.event.Doubt = "the record of another sandbox of the pod cannot be read: it may be newer"
	}
	if o := k.Own; o != nil && o.State == guard.Adding {
		k.Running = alive(s.Proc, o.PID, o.Start)
	}
	d := by(s.call, k)
	if d.Late { // only then the delegate's way of finding objects matters
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

// withhold does not pass a late DEL to the delegate, which would delete objects of the
// name's newer owner. It deletes the interface inside the old sandbox's own namespace and
// what the IPAM plugin finds by container ID, because these belong to no other sandbox. The
// rest is queued before anything is deleted, and stays queued until the name is free. If it
// cannot be queued, the runtime gets an error and must repeat the DEL.
func (s *session) withhold(ctx context.Context, d *guard.Decision, own *guard.Owner) *answer {
	if d.Queue && !s.queued("late DEL: the pod name has a newer owner", time.Minute) {
		return &answer{trouble: errors.New("late DEL neither passed on nor queued; the runtime must repeat it")}
	}
	s.reach("withheld")
	if d.Inside && own != nil && (s.call.NetNS == "" || s.call.NetNS == own.NetNS) {
		switch err := unplug(ctx, own); {
		case err == nil:
			s.did("deleted %s in the network namespace of the old sandbox", own.IfName)
		case !errors.Is(err, errNoNamespace):
			s.trouble("delete "+own.IfName+" in the network namespace of the old sandbox", err)
		}
	}
	if d.Unnamed {
		a := s.unnamed(ctx)
		if !a.ok() {
			return a // an error of the plugin never becomes a success
		}
		s.did(guard.DidRelease)
	}
	s.gone(own)
	return &answer{}
}

// refused returns the plugin's error, unless rule 11 allows success.
func (s *session) refused(ctx context.Context, a *answer, known guard.Known) *answer {
	if s.as != guard.Enforce || known.Own == nil || a.trouble != nil {
		return a
	}
	if !guard.ShouldSucceed(s.call, known, delegateError(a), provenGone(ctx, s.Proc, known.Own)) || !s.queued("its DEL fails, and its network namespace is gone", 0) {
		return a
	}
	s.event.Rule = 11
	s.event.Error = wrong(a)
	s.did("answered with success: the network namespace is gone, and the rest of the DEL is queued")
	s.gone(known.Own)
	return &answer{said: a.said}
}

func (s *session) did(format string, args ...any) {
	s.event.Did = append(s.event.Did, fmt.Sprintf(format, args...))
}
