package plugin

import (
	"context"
	"errors"
	"os"
	"time"

	"plumbline.dev/plumbline/internal/guard"
)

// cleaning is how long the DEL after a failed ADD may take. The caller of the ADD waits for
// it.
const cleaning = 10 * time.Second

// mayFinish is how long after the end of an ADD calico-ipam may still assign an address for
// it.
const mayFinish = 150 * time.Second

// add records the ADD before anything is done for it, passes it on, and records the result.
func (s *session) add(ctx context.Context) *answer {
	own := s.intend()
	s.event.Rule = 1
	if own != nil && own.Again {
		s.event.Rule, s.event.Says = 3, "second ADD of the same attachment, which violates the CNI protocol"
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
		s.trouble("read the result", errors.New("not a CNI result"))
	} else {
		s.event.IPs, s.event.Device = r.addresses(), r.device()
	}
	if refused := s.duplicate(ctx, own); refused != nil {
		says := s.event.Says
		s.undo(own, refused)
		s.event.Rule, s.event.Says = 15, says
		return refused
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
		s.trouble("read the start time of this process", err)
	}
	if o.Inode, err = inodeOf(c.NetNS); err != nil {
		s.trouble("read the network namespace", err)
	}
	if o, err = s.db.Begin(o); err != nil {
		s.trouble("record the ADD", err)
		return nil
	}
	return &o
}

// undo cleans up after an ADD that failed, because the runtime may never call DEL. The DEL
// is queued before it is called, so a kill in between loses nothing.
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
	s.trouble("read the ownership record", err)
	s.reach("cleaning")
	switch {
	case err != nil || !d.Queue:
	case a.killed():
		// The DEL that ended the ADD, or the system, continues from here; but the address
		// that the ADD asked for may still be assigned.
		s.queued("its ADD was ended and may still assign an address", mayFinish)
	case d.Forward:
		s.cleanup(ctx, a)
	default:
		s.withhold(ctx, &d, known.Own)
	}
}

// cleanup calls the DEL. If the ADD was ended at its deadline, the DEL is repeated later.
func (s *session) cleanup(ctx context.Context, add *answer) {
	after := time.Duration(0)
	if errors.Is(add.trouble, errSlow) {
		after = mayFinish
	}
	s.queued("its ADD failed", after)
	s.reach("queued")
	a := s.delegate.run(ctx, string(guard.Del), s.entry.configuration("prevResult"))
	switch {
	case !a.ok():
		s.did("the DEL after the failed ADD failed: %s", wrong(a))
	case after == 0:
		s.did(guard.DidCleanUp)
		s.settled()
	default:
		s.did(guard.DidCleanUp)
	}
}

// settled removes the call's DEL from the queue: it is done.
func (s *session) settled() {
	s.trouble("remove a DEL from the queue", s.db.Unqueue(s.call.Key()))
}

// queued queues a DEL that no runtime will repeat. It reports whether the DEL is queued.
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
		s.did(guard.DidQueue)
	}
	return err == nil
}
