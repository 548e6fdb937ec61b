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

// A promise is what a container was given.
type promise struct {
	device string // inside
	ips    []netip.Prefix
	host   string // the end outside; empty if nobody said
	leads  func(is4 bool) bool
}

// broken reads a namespace and says what a container no longer has of it. An error means
// that it could not be seen.
func (p *promise) broken(ctx context.Context, ns *os.File) ([]string, error) {
	rows, err := podns.Read(ctx, ns)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(rows, func(r model.Attachment) bool { return r.Device == p.device })
	if at < 0 {
		return []string{"the device " + p.device + " is not there"}, nil
	}
	row := &rows[at]
	out := p.inside(row)
	outside, err := p.outside(ctx, row)
	if outside != "" {
		out = append(out, outside)
	}
	return out, err
}

// inside says what is missing on the container's side.
func (p *promise) inside(row *model.Attachment) []string {
	var out []string
	if !row.Up {
		out = append(out, "the device "+row.Device+" is down")
	}
	for _, ip := range p.ips {
		if !slices.ContainsFunc(row.IPs, func(has netip.Prefix) bool { return has.Addr() == ip.Addr() }) {
			out = append(out, fmt.Sprintf("the address %s is not on %s", ip.Addr(), row.Device))
			continue
		}
		if p.leads != nil && !p.way(row, ip.Addr().Is4()) {
			out = append(out, fmt.Sprintf("no route leads from %s to others than one", ip.Addr()))
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

// way tells whether the device leads anywhere: by a default route if one was promised,
// else by any that is not to a single address, for not all plugins tell their routes.
func (p *promise) way(row *model.Attachment, is4 bool) bool {
	return slices.ContainsFunc(row.Routes, func(r model.Route) bool {
		return r.Type == "" && r.Dst.Addr().Is4() == is4 && (r.Dst.Bits() == 0 || !p.leads(is4) && !r.Dst.IsSingleIP())
	})
}

// outside says what is wrong with the other end.
func (p *promise) outside(ctx context.Context, row *model.Attachment) (string, error) {
	host, err := podns.Host()
	if err != nil || p.host == "" || row.Peer == 0 {
		return "", err
	}
	if row.PeerNS != host {
		return "the other end of " + row.Device + " is not on the host", nil
	}
	s, err := rtnl.Open()
	if err != nil {
		return "", err
	}
	defer s.Close()
	l, err := s.Link(ctx, row.Peer)
	switch {
	case errors.Is(err, rtnl.ErrGone):
		return "the host's end " + p.host + " is not there", nil
	case err != nil:
		return "", err
	case l.Name != p.host:
		return fmt.Sprintf("the host's end is %s, not %s", l.Name, p.host), nil
	case !l.Up:
		return "the host's end " + p.host + " is down", nil
	}
	return "", nil
}
