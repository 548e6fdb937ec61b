package plugin

import (
	"context"
	"errors"
	"os"
	"time"

	"plumbline.dev/plumbline/internal/guard"
)

// cleaning is how long the DEL after a failed ADD may take. Who asked for the ADD waits.
const cleaning = 10 * time.Second

// mayFinish is how long after the end of an ADD calico-ipam may still assign for it.
const mayFinish = 150 * time.Second

// add writes down whose the name will be, before anything is done about it, and what came
// of it.
func (s *session) add(ctx context.Context) *answer {
	own := s.intend()
	s.event.Rule = 1
	if own != nil && own.Again {
		s.event.Rule, s.event.Says = 3, "a second ADD of one attachment: against the protocol"
	}
	s.reach("intended")
	s.giveWay(ctx, own)
	a := s.pass(ctx)
	s.reach("answered")
	if !a.ok() {
		s.undo(own, a)
		return a
	}
	if r, err := parseResult(a.out); err != nil {
		s.trouble("read the result", errors.New("it is no CNI result"))
	} else {
		s.event.IPs, s.event.Device = r.addresses(), r.device()
	}
	if own != nil {
		own.State, own.IPs, own.Device = guard.Added, s.event.IPs, s.event.Device
		s.trouble("record the result", s.db.End(*own))
	}
	return a
}

// intend records that the ADD begins; nil if it cannot be recorded.
func (s *session) intend() *guard.Owner {
	if s.db == nil {
		return nil
	}
	c := &s.call
	o := guard.Owner{
		Key: c.Key(), Namespace: c.Namespace, Pod: c.Pod, UID: c.UID, State: guard.Adding,
		PID: os.Getpid(), NetNS: c.NetNS,
	}
	var err error
	if o.Start, err = startOf(s.Proc, o.PID); err != nil {
		s.trouble("our own start", err)
	}
	if o.Inode, err = inodeOf(c.NetNS); err != nil {
		s.trouble("the namespace", err)
	}
	if o, err = s.db.Begin(o); err != nil {
		s.trouble("record the intent", err)
		return nil
	}
	return &o
}

// undo cleans up after an ADD that failed: runtimes may never ask for it. The DEL is in
// the queue before it is tried, so that a kill in between loses nothing.
func (s *session) undo(own *guard.Owner, a *answer) {
	if own == nil {
		return
	}
	own.State = guard.Failed
	s.trouble("record the failure", s.db.End(*own))
	ctx, stop := context.WithTimeout(context.Background(), cleaning)
	defer stop()
	s.announce()
	d, known, err := s.decide(ctx, guard.Clean)
	s.trouble("read the record", err)
	s.reach("cleaning")
	switch {
	case err != nil || !d.Queue:
	case a.killed():
		// Whoever ended it, a DEL of its own or the system, goes on from there; but what
		// it had asked for may still be done.
		s.queued("its ADD was cut off, and may finish later", mayFinish)
	case d.Forward:
		s.cleanup(ctx, a)
	default:
		s.withhold(ctx, &d, known.Own)
	}
}

// cleanup calls the DEL. If the ADD was ended on its deadline, another one is due later.
func (s *session) cleanup(ctx context.Context, add *answer) {
	after := time.Duration(0)
	if errors.Is(add.trouble, errSlow) {
		after = mayFinish
	}
	s.queued("its ADD did not succeed", after)
	s.reach("queued")
	a := s.delegate.run(ctx, string(guard.Del), s.entry.configuration("prevResult"))
	switch {
	case !a.ok():
		s.did("the DEL after it did not succeed: %s", wrong(a))
	case after == 0:
		s.did("cleaned by a DEL")
		s.settled()
	default:
		s.did("cleaned by a DEL")
	}
}

// settled takes out of the queue what is done.
func (s *session) settled() {
	s.trouble("take a DEL out of the queue", s.db.Unqueue(s.call.Key()))
}

// queued asks for a DEL that nobody else will ask for.
func (s *session) queued(why string, after time.Duration) bool {
	if s.db == nil {
		return false
	}
	now, err := s.boot()
	if err == nil {
		call := s.call
		call.Verb = guard.Del
		err = s.db.Queue(guard.QueuedDel{Call: call, Why: why, At: int64((now + after).Seconds())})
	}
	s.trouble("queue a DEL", err)
	if err == nil {
		s.did("queued a DEL")
	}
	return err == nil
}
