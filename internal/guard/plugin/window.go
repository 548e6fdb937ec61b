package plugin

import (
	"context"
	"os"
	"slices"
	"time"

	"plumbline.dev/plumbline/internal/guard"
	"plumbline.dev/plumbline/internal/guard/ownerdb"
)

// A DEL is decided by the record, and carried out by a delegate that takes its time. If an
// ADD of the same name begins in between, a delegate that goes by name finds what is the
// new one's. No lock is held around a delegate, so both say what they are about to do
// before they look what the other does: the DEL then sees that it is late, or the ADD sees
// the DEL and gives way to it, for a while. What is left is a DEL that still runs after
// that, or that was begun in observe, or by a guard that could not write it down.

// givingWay is how long an ADD waits for a DEL of an older sandbox that goes by name.
const givingWay = 5 * time.Second

// announce says that this process may hand on a DEL of the name.
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

// giveWay lets a DEL of the name end that was decided before our ADD was on record.
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
		s.did("a DEL of an older sandbox still ran")
	}
}

func (s *session) beingDeleted() bool {
	all, err := s.db.Deleters(s.call.Name())
	return err == nil && slices.ContainsFunc(all, func(d ownerdb.Deleter) bool {
		return d.Container != s.call.Container && alive(s.Proc, d.PID, d.Start)
	})
}
