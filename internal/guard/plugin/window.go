package plugin

import (
	"context"
	"os"
	"slices"
	"time"

	"plumbline.dev/plumbline/internal/guard"
	"plumbline.dev/plumbline/internal/guard/ownerdb"
)

// A DEL is decided by the ownership record and then carried out by a delegate, which takes
// time. If an ADD of the same name begins in between, a delegate that finds objects by name
// finds those of the new sandbox. No lock is held while a delegate runs. Instead both write
// what they are about to do before they read what the other does: either the DEL sees that
// it is late, or the ADD sees the DEL and waits for it, for a limited time. Not covered: a
// DEL that still runs after that time, a DEL that began in observe, and a DEL whose guard
// could not record it.

// givingWay is how long an ADD waits for a DEL of an older sandbox that finds objects by
// name.
const givingWay = 5 * time.Second

// announce records that this process may pass on a DEL of the name.
func (s *session) announce() {
	if s.db == nil || s.as != guard.Enforce || !s.entry.calico() {
		return
	}
	d := ownerdb.Deleter{Container: s.call.Container, PID: os.Getpid()}
	var err error
	if d.Start, err = startOf(s.Proc, d.PID); err == nil {
		err = s.db.Deleting(s.call.Name(), d)
	}
	s.trouble("record that a DEL begins", err)
}

// giveWay waits for a DEL of the name that was decided before this ADD was on record.
func (s *session) giveWay(ctx context.Context, own *guard.Owner) {
	if own == nil || s.as != guard.Enforce || !s.entry.calico() || !s.beingDeleted() {
		return
	}
	switch s.goesBy(ctx) {
	case guard.ByName, guard.ByBoth:
	default:
		return
	}
	if over(ctx, givingWay, s.beingDeleted) {
		s.did("waited for a DEL of an older sandbox")
	} else {
		s.did("a DEL of an older sandbox was still running")
	}
}

func (s *session) beingDeleted() bool {
	all, err := s.db.Deleters(s.call.Name())
	return err == nil && slices.ContainsFunc(all, func(d ownerdb.Deleter) bool {
		return d.Container != s.call.Container && alive(s.Proc, d.PID, d.Start)
	})
}
