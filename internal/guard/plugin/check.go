package plugin

import (
	"context"
	"errors"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/guard"
)

// looking is how long the guard's own part of a CHECK may take.
const looking = time.Second

// check runs the guard's own checks and then the delegate's: Calico's own CHECK checks
// nothing. An error of the delegate is returned as it is; a problem that the guard found
// fails the CHECK only in enforce.
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

// checked returns the problems. What cannot be read is not a problem.
func (s *session) checked(ctx context.Context) []string {
	ctx, stop := context.WithTimeout(ctx, looking)
	defer stop()
	p := expectation{device: s.call.IfName, leads: func(bool) bool { return false }}
	r, err := parseResult(s.entry.value("prevResult"))
	if err == nil {
		p.ips, p.host, p.leads = r.addresses(), r.device(), r.leads
	} else {
		s.trouble("read the result", errors.New("the CHECK call has no prevResult"))
	}
	if o := s.owned(); o != nil && o.State == guard.Added {
		if err != nil {
			p.ips, p.host = o.IPs, o.Device
		}
		if inode, err := inodeOf(s.call.NetNS); err == nil && o.Inode != 0 && inode != o.Inode {
			return []string{"the network namespace is not that of the ADD"}
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
	s.trouble("read the network namespace", err)
	return out
}

// owned returns the record of the call's own attachment, nil if there is none.
func (s *session) owned() *guard.Owner {
	if s.db == nil {
		return nil
	}
	o, err := s.db.Owner(s.call.Key())
	s.trouble("read the ownership record", err)
	if err != nil {
		return nil
	}
	return o
}
