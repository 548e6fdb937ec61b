package plugin

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"plumbline.dev/plumbline/internal/guard"
	"plumbline.dev/plumbline/internal/guard/ownerdb"
	"plumbline.dev/plumbline/internal/kernel/podns"
	"plumbline.dev/plumbline/internal/model"
)

// comparing is how long the comparison of an ADD's addresses may take.
const comparing = time.Second

// duplicate reports an address of the result that another running sandbox of this node has: rule 15.
// In enforce the ADD is refused, and undone as one that failed; what cannot be read refuses nothing.
func (s *session) duplicate(ctx context.Context, own *guard.Owner) *answer {
	ctx, stop := context.WithTimeout(ctx, comparing)
	defer stop()
	o, ip := s.alsoHas(ctx)
	if o == nil {
		return nil
	}
	s.event.Rule, s.event.Says = 15, fmt.Sprintf("%s is in use by %s/%s (sandbox %s)", ip, o.Namespace, o.Pod, o.Container)
	if s.as != guard.Enforce || own == nil || own.Again {
		return nil // what cannot be undone is not refused
	}
	return &answer{out: refusal(s.entry.version, internal, errors.New("duplicate address: "+s.event.Says)), said: s.said.said, code: 1}
}

// alsoHas returns another attachment of this node that has an address of the result: its network
// namespace exists, the address is in it, a process uses it, and no DEL for it runs.
func (s *session) alsoHas(ctx context.Context) (*guard.Owner, netip.Addr) {
	if s.db == nil || len(s.event.IPs) == 0 || !s.entry.calico() {
		return nil, netip.Addr{}
	}
	all, err := s.db.All()
	s.trouble("read the ownership records", err)
	for i := range all {
		o := &all[i]
		if o.Container == s.call.Container || o.Network != s.call.Network || !o.Holds() {
			continue
		}
		for _, p := range s.event.IPs {
			ip := p.Addr()
			if slices.ContainsFunc(o.IPs, func(q netip.Prefix) bool { return q.Addr() == ip }) && s.uses(ctx, o, ip) {
				return o, ip
			}
		}
	}
	return nil, netip.Addr{}
}

// uses reports whether a running sandbox has the address. Any doubt is a no.
func (s *session) uses(ctx context.Context, o *guard.Owner, ip netip.Addr) bool {
	if own, err := inodeOf(s.call.NetNS); err != nil || own == o.Inode {
		return false
	}
	if s.deleted(o) {
		return false
	}
	ns, err := namespaceOf(o)
	if err != nil {
		return false
	}
	defer ns.Close()
	rows, err := podns.Read(ctx, ns)
	if err != nil || !slices.ContainsFunc(rows, func(r model.Attachment) bool { return r.Up && r.Has(ip) }) {
		return false
	}
	return s.inhabited(ctx, o.Inode)
}

// deleted reports whether a DEL of the attachment runs, or may.
func (s *session) deleted(o *guard.Owner) bool {
	all, err := s.db.Deleters(o.Name())
	return err != nil || slices.ContainsFunc(all, func(d ownerdb.Deleter) bool { return d.Container == o.Container && alive(s.Proc, d.PID, d.Start) })
}

// inhabited reports whether a process is in a network namespace: of a sandbox that has ended none is.
func (s *session) inhabited(ctx context.Context, inode uint64) bool {
	entries, err := os.ReadDir(s.Proc)
	if err != nil {
		return false
	}
	want := "net:[" + strconv.FormatUint(inode, 10) + "]"
	for _, e := range entries {
		if e.Name()[0] < '0' || e.Name()[0] > '9' {
			continue
		}
		if ctx.Err() != nil {
			return false
		}
		if link, err := os.Readlink(filepath.Join(s.Proc, e.Name(), "ns/net")); err == nil && link == want {
			return true
		}
	}
	return false
}
