package plugin

import (
	"context"
	"errors"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/guard"
)

// looking is how long our own part of a CHECK may take.
const looking = time.Second

// check sees for itself, then asks the delegate: Calico's own CHECK looks at nothing. What
// it says stands, and what we saw only if we may change an answer.
func (s *session) check(ctx context.Context) *answer {
	s.event.Rule = 13
	wrong := s.checked(ctx)
	if len(wrong) > 0 {
		s.event.Says = strings.Join(wrong, "; ")
	}
	a := s.pass(ctx)
	if a.ok() && len(wrong) > 0 && s.as == guard.Enforce {
		return &answer{out: refusal(s.entry.version, internal, errors.New(s.event.Says)), said: a.said, code: 1}
	}
	return a
}

// checked gives what is wrong. What could not be seen is not wrong.
func (s *session) checked(ctx context.Context) []string {
	ctx, stop := context.WithTimeout(ctx, looking)
	defer stop()
	p := promise{device: s.call.IfName, leads: func(bool) bool { return false }}
	r, err := parseResult(s.entry.value("prevResult"))
	if err == nil {
		p.ips, p.host, p.leads = r.addresses(), r.device(), r.leads
	} else {
		s.trouble("read the result", errors.New("CHECK came without the one of the ADD"))
	}
	if o := s.owned(); o != nil && o.State == guard.Added {
		if err != nil {
			p.ips, p.host = o.IPs, o.Device
		}
		if inode, err := inodeOf(s.call.NetNS); err == nil && o.Inode != 0 && inode != o.Inode {
			return []string{"the network namespace is not the one that was added to"}
		}
	}
	ns, _, err := openNamespace(s.call.NetNS)
	if errors.Is(err, errNoNamespace) {
		return []string{err.Error()}
	}
	var out []string
	if err == nil {
		defer ns.Close()
		out, err = p.broken(ctx, ns)
	}
	s.trouble("look inside", err)
	return out
}

// owned gives the record of the call's own attachment, if there is any.
func (s *session) owned() *guard.Owner {
	if s.db == nil {
		return nil
	}
	o, err := s.db.Owner(s.call.Key())
	s.trouble("read the record", err)
	if err != nil {
		return nil
	}
	return o
}
