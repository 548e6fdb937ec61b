package server

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"plumbline.dev/plumbline/internal/model"
)

// fresh reads tables now, not from the cache. A table that was not read completely is an
// error: what is missing may be what matters.
func (s *Server) fresh(ctx context.Context, tables ...model.Table) (*model.NodeState, error) {
	f, coverage := s.reader.Read(ctx, tables...)
	for _, t := range tables {
		i := slices.IndexFunc(coverage, func(c model.Coverage) bool { return c.Table == t })
		switch {
		case i < 0:
			return nil, fmt.Errorf("no collector reads %s", t)
		case !coverage[i].State.Seen():
			return nil, fmt.Errorf("%s could not be read completely: %s", t, coverage[i].Reason)
		}
	}
	model.Join(f.Attachments, f.Sandboxes)
	return f, nil
}

// quiet refuses while a CNI call is running: what it creates is in no table yet.
func (s *Server) quiet(ctx context.Context) error {
	calls, err := s.calls(ctx)
	if err != nil {
		return fmt.Errorf("list the running CNI calls: %w", err)
	}
	if len(calls) > 0 {
		return fmt.Errorf("a CNI call is running: %s of %.12s", calls[0].Command, calls[0].CNI)
	}
	return nil
}

// inUse reports whether a namespace is used by a process or a sandbox.
func inUse(a *model.Attachment) bool { return a.PIDs > 0 || a.Sandbox != "" }

// behind reports whether a pod interface is the peer of the host interface with that index.
// If its peer's namespace is unknown, that is assumed.
func behind(a *model.Attachment, index int, host uint64) bool {
	return a.Peer == index && (a.PeerNS == host || a.PeerNS == 0)
}

// owner returns the attachment in use behind a host interface that has an address; nil if
// there is none.
func owner(f *model.NodeState, index int, host uint64, ip netip.Addr) *model.Attachment {
	for i := range f.Attachments {
		if a := &f.Attachments[i]; behind(a, index, host) && inUse(a) && a.Has(ip) {
			return a
		}
	}
	return nil
}

// lasts refuses an interface that this agent has not observed, unchanged and without a
// break, for at least least: interfaces carry no creation time.
func (s *Server) lasts(index int, name string, least time.Duration) error {
	snap := s.store.snapshot(s.now(), model.Links)
	for _, c := range snap.Coverage {
		if !c.State.Seen() {
			return fmt.Errorf("%s could not be read completely: %s", c.Table, c.Reason)
		}
	}
	for _, l := range snap.NodeState[s.node].Links {
		if l.Index != index || l.Name != name {
			continue
		}
		if age := snap.Meta.Taken.Sub(l.Since); age < least {
			return fmt.Errorf("%s has been observed unchanged for %s only, %s are required", name, age, least)
		}
		return nil
	}
	return fmt.Errorf("%s is not in the agent's table of interfaces", name)
}
