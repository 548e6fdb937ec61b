package plugin

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/guard"
)

// await waits for an ADD of the same container, then ends its delegate. The guard process
// of that ADD notices and answers.
func (s *session) await(ctx context.Context, own *guard.Owner, limit time.Duration) (ended bool) {
	adding := func() bool { return s.adding(own) }
	if over(ctx, limit, adding) {
		return false
	}
	s.trouble("end the ADD", killDelegate(s.Proc, own.PID, own.Start))
	s.did("ended the ADD of the same container, which was still running")
	over(ctx, time.Second, adding)
	return true
}

// over reports whether something ended in time.
func over(ctx context.Context, limit time.Duration, runs func() bool) bool {
	ctx, stop := context.WithTimeout(ctx, limit)
	defer stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for runs() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

func (s *session) adding(own *guard.Owner) bool {
	o, err := s.db.Owner(own.Key)
	return err == nil && o != nil && o.Seq == own.Seq && o.State == guard.Adding && alive(s.Proc, own.PID, own.Start)
}

// lacks returns what an owner no longer has. What cannot be read is not reported as
// missing.
func (s *session) lacks(ctx context.Context, o *guard.Owner) []string {
	if o == nil || o.State != guard.Added {
		return nil
	}
	ctx, stop := context.WithTimeout(ctx, looking)
	defer stop()
	ns, err := namespaceOf(o)
	if errors.Is(err, errNoNamespace) {
		return []string{err.Error()}
	}
	var out []string
	if err == nil {
		defer ns.Close()
		p := expectation{device: o.IfName, ips: o.IPs, host: o.Device}
		out, err = p.broken(ctx, ns)
	}
	s.trouble("check the newest owner", err)
	return out
}

// confirm records what the newest owner lost by a DEL of another sandbox.
func (s *session) confirm(before, after []string) {
	lost := slices.DeleteFunc(after, func(l string) bool { return slices.Contains(before, l) })
	if len(lost) > 0 {
		s.event.Lost = lost
		s.did("the newest owner LOST: %s", strings.Join(lost, ", "))
	}
}
