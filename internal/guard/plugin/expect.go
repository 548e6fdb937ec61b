package plugin

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"

	"plumbline.dev/plumbline/internal/kernel/podns"
	"plumbline.dev/plumbline/internal/kernel/rtnl"
	"plumbline.dev/plumbline/internal/model"
)

// A expectation is what the ADD gave to a container.
type expectation struct {
	device string // pod interface
	ips    []netip.Prefix
	host   string // host interface; empty if unknown
	leads  func(is4 bool) bool
}

// broken reads a network namespace and returns what the container no longer has. An error
// means that it could not be read.
func (p *expectation) broken(ctx context.Context, ns *os.File) ([]string, error) {
	rows, err := podns.Read(ctx, ns)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(rows, func(r model.Attachment) bool { return r.Device == p.device })
	if at < 0 {
		return []string{"the interface " + p.device + " does not exist"}, nil
	}
	row := &rows[at]
	out := p.inside(row)
	outside, err := p.outside(ctx, row)
	if outside != "" {
		out = append(out, outside)
	}
	return out, err
}

// inside returns what is missing in the container's namespace.
func (p *expectation) inside(row *model.Attachment) []string {
	var out []string
	if !row.Up {
		out = append(out, "the interface "+row.Device+" is down")
	}
	for _, ip := range p.ips {
		if !slices.ContainsFunc(row.IPs, func(has netip.Prefix) bool { return has.Addr() == ip.Addr() }) {
			out = append(out, fmt.Sprintf("the address %s is missing on %s", ip.Addr(), row.Device))
			continue
		}
		if p.leads != nil && !p.way(row, ip.Addr().Is4()) {
			out = append(out, fmt.Sprintf("no usable route from %s", ip.Addr()))
		}
	}
	for _, r := range row.Routes {
		if p.leads == nil || r.Dst.Bits() != 0 || !r.Gateway.IsValid() {
			continue
		}
		if slices.ContainsFunc(row.Neighbours, func(n model.Neighbour) bool { return n.IP == r.Gateway && n.State == "FAILED" }) {
			out = append(out, fmt.Sprintf("the gateway %s does not answer", r.Gateway))
		}
	}
	return out
}

// way reports whether the interface has a usable route: a default route if the result has
// one, else any route that is not to a single address, because not all plugins report their
// routes.
func (p *expectation) way(row *model.Attachment, is4 bool) bool {
	return slices.ContainsFunc(row.Routes, func(r model.Route) bool {
		return r.Type == "" && r.Dst.Addr().Is4() == is4 && (r.Dst.Bits() == 0 || !p.leads(is4) && !r.Dst.IsSingleIP())
	})
}

// outside returns what is wrong with the host interface.
func (p *expectation) outside(ctx context.Context, row *model.Attachment) (string, error) {
	host, err := podns.Host()
	if err != nil || p.host == "" || row.Peer == 0 {
		return "", err
	}
	if row.PeerNS != host {
		return "the peer of " + row.Device + " is not in the host's network namespace", nil
	}
	s, err := rtnl.Open()
	if err != nil {
		return "", err
	}
	defer s.Close()
	l, err := s.Link(ctx, row.Peer)
	switch {
	case errors.Is(err, rtnl.ErrGone):
		return "the host interface " + p.host + " does not exist", nil
	case err != nil:
		return "", err
	case l.Name != p.host:
		return fmt.Sprintf("the host interface is %s, not %s", l.Name, p.host), nil
	case !l.Up:
		return "the host interface " + p.host + " is down", nil
	}
	return "", nil
}
