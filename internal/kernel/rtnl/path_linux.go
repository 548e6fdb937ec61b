package rtnl

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	"golang.org/x/sys/unix"

	"plumbline.dev/plumbline/internal/model"
)

// Path asks what the kernel does with a packet to an address.
func (s *Socket) Path(ctx context.Context, ip netip.Addr) (model.Path, error) {
	ip = ip.Unmap().WithZone("")
	p := model.Path{IP: ip}
	body := make([]byte, unix.SizeofRtMsg)
	body[0], body[1] = unix.AF_INET6, byte(ip.BitLen())
	if ip.Is4() {
		body[0] = unix.AF_INET
	}
	native.PutUint32(body[8:], unix.RTM_F_LOOKUP_TABLE)
	err := s.ask(ctx, unix.RTM_GETROUTE, 0, put(body, unix.RTA_DST, ip.AsSlice()), func(m Message) error {
		r, _, err := route(m.Body)
		p.Link, p.Gateway, p.Table, p.Type = r.Link, r.Gateway, r.Table, r.Type
		return err
	})
	var no *Refusal
	switch {
	case errors.As(err, &no) && noWay(no.Errno):
		p.Error = no.Error()
	case err != nil:
		return p, fmt.Errorf("look up the route to %s: %w", ip, err)
	case leadsNowhere(p.Type): // IPv6 of older kernels answers with the route that refuses
		p.Error = refusalOf[p.Type].Error()
	}
	return p, nil
}

var refusalOf = map[string]unix.Errno{
	"blackhole": unix.EINVAL, "unreachable": unix.EHOSTUNREACH, "prohibit": unix.EACCES, "throw": unix.EAGAIN,
}

// noWay reports whether the refusal is about the address: any other is an error of the
// request.
func noWay(e unix.Errno) bool {
	for _, r := range refusalOf {
		if e == r {
			return true
		}
	}
	return e == unix.ENETUNREACH
}
