package detect

import (
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// PL3006 finds pods whose network is wrong inside their network namespace.
var PL3006 = &Detector{
	Code: finding.PL3006, Title: "address, routes or interface are wrong inside a pod's network namespace", Severity: finding.Error, Class: finding.Kernel,
	Each:       []model.Table{model.Pods},
	Needs:      append([]model.Table{model.Pools}, seatNeeds...),
	Uses:       seatUses,
	ShadowedBy: []finding.Code{finding.PL2004, finding.PL2010, finding.PL3002},
	Applies:    kernelIsCalicos, Since: "0.2", Run: wrongInside,
}

func wrongInside(p *Pass, _ model.Table, row int32) {
	s, ok := seatOf(p, row)
	if !ok || s.machine() || s.inside == nil {
		return
	}
	wrong := ""
	switch {
	case !s.inside.Up:
		wrong = s.device + " is down"
	case !s.sandbox.SharesKernel(): // then the guest kernel has address and routes
	default:
		wrong = s.wrongAddress(p)
		if wrong == "" && s.others == 0 { // with several interfaces the routes are the owner's choice
			wrong = s.wrongRoutes()
		}
	}
	if wrong == "" {
		return
	}
	s.report(p, finding.Finding{Summary: wrong, Evidence: []finding.Evidence{insideSays(s.inside), routesSays(s.inside)}})
}

// wrongAddress compares the addresses of the interface with those in Kubernetes and Calico;
// if these have none, the interface is correct.
func (s *seat) wrongAddress(p *Pass) string {
	var has, extra []netip.Addr
	for _, q := range s.inside.IPs {
		has = append(has, q.Addr())
		if !slices.Contains(s.ips, q.Addr()) && p.PoolWith(q.Addr()) != nil {
			extra = append(extra, q.Addr())
		}
	}
	for _, ip := range s.ips {
		switch {
		case slices.Contains(has, ip):
		case len(has) == 0:
			return s.device + " has no address; it should have " + addrs(s.ips)
		default:
			return s.device + " has " + addrs(has) + "; it should have " + addrs(s.ips)
		}
	}
	if len(extra) > 0 {
		return s.device + " also has " + addrs(extra) + ", which neither Kubernetes nor Calico has for it"
	}
	return ""
}

// wrongRoutes checks the default route and the route to the gateway, for each IP family of
// the pod.
func (s *seat) wrongRoutes() string {
	four := slices.ContainsFunc(s.ips, netip.Addr.Is4)
	six := slices.ContainsFunc(s.ips, func(a netip.Addr) bool { return !a.Is4() })
	out := defaults(s.inside, four)
	switch {
	case four && len(out) == 0 && !asksGateway(s.inside):
		return "it has no default route"
	case four && len(out) > 0 && !slices.Contains(out, gateway):
		return "its default route is not via 169.254.1.1"
	case four && asksGateway(s.inside) && !onLink(s.inside):
		return "it has no route to its gateway 169.254.1.1"
	case six && len(defaults(s.inside, false)) == 0:
		return "it has no IPv6 default route"
	}
	return ""
}

// defaults returns the next hops of the default routes through that interface.
func defaults(a *model.Attachment, four bool) []netip.Addr {
	var out []netip.Addr
	for i := range a.Routes {
		r := &a.Routes[i]
		if r.Type == "" && r.Dst.IsValid() && r.Dst.Bits() == 0 && r.Dst.Addr().Is4() == four && ofDevice(r, a) {
			out = append(out, r.Gateway)
		}
	}
	return out
}

// onLink reports whether a route without next hop covers the gateway.
func onLink(a *model.Attachment) bool {
	for i := range a.Routes {
		r := &a.Routes[i]
		if r.Type == "" && !r.Gateway.IsValid() && r.Dst.Contains(gateway) && ofDevice(r, a) {
			return true
		}
	}
	return false
}

// ofDevice reports whether the route is not of another interface of the namespace.
func ofDevice(r *model.Route, a *model.Attachment) bool { return r.Link == 0 || r.Link == a.Index }
