package rtnl

import (
	"context"
	"net/netip"
	"strconv"

	"golang.org/x/sys/unix"

	"plumbline.dev/plumbline/internal/model"
)

// Routes returns the routes of all tables, types and both families, a route with several
// next hops as several rows. Routes of every namespace are left out: broadcast, multicast,
// anycast, link-local and loopback destinations.
func (s *Socket) Routes(ctx context.Context, limit int) ([]model.Route, error) {
	return dump(ctx, s, unix.RTM_GETROUTE, make([]byte, unix.SizeofRtMsg), limit, func(m Message, rows []model.Route) ([]model.Route, error) {
		if m.Type != unix.RTM_NEWROUTE {
			return rows, nil
		}
		return parseRoute(m.Body, rows)
	})
}

var routeTypes = map[uint8]string{
	unix.RTN_UNICAST: "", unix.RTN_LOCAL: "local", unix.RTN_BLACKHOLE: "blackhole", unix.RTN_UNREACHABLE: "unreachable",
	unix.RTN_PROHIBIT: "prohibit", unix.RTN_THROW: "throw", unix.RTN_NAT: "nat", unix.RTN_XRESOLVE: "xresolve",
}

func routeScope(v uint8) string {
	switch v {
	case unix.RT_SCOPE_UNIVERSE:
		return ""
	case unix.RT_SCOPE_SITE:
		return "site"
	case unix.RT_SCOPE_LINK:
		return "link"
	case unix.RT_SCOPE_HOST:
		return "host"
	case unix.RT_SCOPE_NOWHERE:
		return "nowhere"
	default:
		return strconv.Itoa(int(v))
	}
}

// parseRoute appends the rows of a route: none if it is left out.
func parseRoute(b []byte, rows []model.Route) ([]model.Route, error) {
	r, hops, err := route(b)
	if err != nil || !ofInterest(&r, b) {
		return rows, err
	}
	if len(hops) == 0 {
		return append(rows, r), nil
	}
	for _, h := range hops {
		r.Link, r.Gateway = h.Link, h.Gateway
		rows = append(rows, r)
	}
	return rows, nil
}

// ofInterest checks the destination, not the interface: an IPv6 blackhole is on lo.
func ofInterest(r *model.Route, b []byte) bool {
	dst := r.Dst.Addr()
	_, known := routeTypes[b[7]]
	cloned := Number(b[8:])&unix.RTM_F_CLONED != 0
	return known && !cloned && r.Table != 0 && r.Dst.IsValid() &&
		!dst.IsMulticast() && !dst.IsLoopback() && (dst.Is4() || !dst.IsLinkLocalUnicast())
}

// route reads a route and its next hops, if it has several.
func route(b []byte) (model.Route, []model.Route, error) {
	var r model.Route
	var hops []model.Route
	var dst netip.Addr
	var bad error
	err := Attrs(b, unix.SizeofRtMsg, func(kind uint16, v []byte) {
		switch kind {
		case unix.RTA_DST:
			dst = addr(v)
		case unix.RTA_GATEWAY, unix.RTA_VIA, unix.RTA_OIF:
			towards(&r, kind, v)
		case unix.RTA_TABLE:
			r.Table = int(Number(v))
		case unix.RTA_PRIORITY:
			r.Metric = int(Number(v))
		case unix.RTA_MULTIPATH:
			hops, bad = nextHops(v)
		default:
		}
	})
	if err == nil {
		err = bad
	}
	if err != nil {
		return r, nil, err
	}
	r.Dst = destination(b[0], dst, int(b[1]))
	if r.Table == 0 {
		r.Table = int(b[4])
	}
	r.Protocol, r.Scope, r.Type = int(b[5]), routeScope(b[6]), routeTypes[b[7]]
	if leadsNowhere(r.Type) {
		r.Link = 0 // IPv6 reports lo, IPv4 nothing: no packet leaves through it
	}
	return r, hops, nil
}

// destination is the prefix of a route; invalid for multicast routing and MPLS. The default
// route has no address.
func destination(family byte, dst netip.Addr, bits int) netip.Prefix {
	switch {
	case family == unix.AF_INET && !dst.IsValid():
		dst = netip.IPv4Unspecified()
	case family == unix.AF_INET6 && !dst.IsValid():
		dst = netip.IPv6Unspecified()
	case family == unix.AF_INET && dst.Is4(), family == unix.AF_INET6 && dst.Is6():
	default:
		return netip.Prefix{}
	}
	return netip.PrefixFrom(dst, bits)
}

func leadsNowhere(kind string) bool {
	return kind == "blackhole" || kind == "unreachable" || kind == "prohibit" || kind == "throw"
}

// towards reads an attribute of the next hop.
func towards(r *model.Route, kind uint16, v []byte) {
	switch kind {
	case unix.RTA_GATEWAY:
		r.Gateway = addr(v)
	case unix.RTA_VIA: // a gateway of the other family, which comes first
		if len(v) > 2 {
			r.Gateway = addr(v[2:])
		}
	case unix.RTA_OIF:
		r.Link = int(int32(Number(v)))
	default:
	}
}

func nextHops(v []byte) ([]model.Route, error) {
	var out []model.Route
	for len(v) >= unix.SizeofRtNexthop {
		n := int(native.Uint16(v))
		if n < unix.SizeofRtNexthop || n > len(v) {
			return out, errShort
		}
		hop := model.Route{Link: int(int32(Number(v[4:])))}
		if err := Attrs(v[:n], unix.SizeofRtNexthop, func(kind uint16, v []byte) { towards(&hop, kind, v) }); err != nil {
			return out, err
		}
		out = append(out, hop)
		v = v[min(aligned(n), len(v)):]
	}
	return out, nil
}
