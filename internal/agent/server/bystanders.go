package server

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"plumbline.dev/plumbline/internal/model"
)

// fresh reads tables now, past all that was kept. One that was not seen in full is an
// error: what it does not show may be what matters.
func (s *Server) fresh(ctx context.Context, tables ...model.Table) (*model.NodeState, error) {
	f, coverage := s.reader.Read(ctx, tables...)
	for _, t := range tables {
		i := slices.IndexFunc(coverage, func(c model.Coverage) bool { return c.Table == t })
		switch {
		case i < 0:
			return nil, fmt.Errorf("nobody reads %s", t)
		case !coverage[i].State.Seen():
			return nil, fmt.Errorf("%s are not seen in full: %s", t, coverage[i].Reason)
		}
	}
	join(f.Attachments, f.Sandboxes)
	return f, nil
}

// quiet refuses while a CNI call is under way: what it makes is in no list yet.
func (s *Server) quiet(ctx context.Context) error {
	calls, err := s.calls(ctx)
	if err != nil {
		return fmt.Errorf("CNI calls: %w", err)
	}
	if len(calls) > 0 {
		return fmt.Errorf("a CNI call is under way: %s of %.12s", calls[0].Command, calls[0].CNI)
	}
	return nil
}

// processLines tells that somebody uses what is inside a namespace, or may.
func processLines(a *model.Attachment) bool { return a.PIDs > 0 || a.Sandbox != "" }

// behind tells that a device inside is the other end of the host's with that index. Of one
// whose other end was not found it is assumed.
func behind(a *model.Attachment, index int, host uint64) bool {
	return a.Peer == index && (a.PeerNS == host || a.PeerNS == 0)
}

// owner gives who lives behind a device of the host's and has an address; nil if nobody.
func owner(f *model.NodeState, index int, host uint64, ip netip.Addr) *model.Attachment {
	for i := range f.Attachments {
		if a := &f.Attachments[i]; behind(a, index, host) && processLines(a) && a.Has(ip) {
			return a
		}
	}
	return nil
}

// lasts refuses a device that this agent has not seen for long, without a break, as it is:
// devices carry no date.
func (s *Server) lasts(index int, name string, least time.Duration) error {
	snap := s.store.snapshot(s.now(), model.Links)
	for _, c := range snap.Coverage {
		if !c.State.Seen() {
			return fmt.Errorf("%s are not seen in full: %s", c.Table, c.Reason)
		}
	}
	for _, l := range snap.NodeState[s.node].Links {
		if l.Index != index || l.Name != name {
			continue
		}
		if age := snap.Meta.Taken.Sub(l.Since); age < least {
			return fmt.Errorf("%s is seen as it is for %s only", name, age)
		}
		return nil
	}
	return fmt.Errorf("%s is not among what is watched", name)
}
