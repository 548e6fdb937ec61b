package detect

import (
	"fmt"
	"net/netip"

	"plumbline.dev/plumbline/internal/model"
)

// A Way is how a node sends packets to an address of another node.
type Way struct {
	Says   string // the route that they take, and over which interface
	Broken string // why they do not arrive; empty: nothing was found
	Unread string // why that is not known
}

// WayTo follows packets from a node to an address of a pod on another node, as PL3007 does.
func WayTo(v *model.View, node string, ip netip.Addr, peer string) Way {
	n, to := v.NodeByName(node), v.NodeByName(peer)
	switch {
	case n == nil || to == nil:
		return Way{Unread: "a node does not exist"}
	case !v.Sees(node, model.Links, model.Routes, model.Rules, model.Neighbours):
		return Way{Unread: "node state of " + node + " was not read"}
	case n.OS == "windows" || to.OS == "windows":
		return Way{Unread: "a node of Windows"}
	}
	if !modern(v.LinksOn(node)) {
		return Way{Unread: "the agent of " + node + " is older"}
	}
	p := &Pass{View: v, Calico: Recognise(v), d: PL3007}
	if eBPF(p, node) {
		return Way{Unread: "the eBPF data plane forwards, whose maps are not read"}
	}
	w := newWays(p, n)
	dst := netip.PrefixFrom(ip, ip.BitLen())
	out := Way{Says: w.describe(dst)}
	switch judged := w.judge(dst, peer); {
	case len(w.faults) > 0:
		out.Broken = w.faults[0].why
	case !judged:
		out.Unread = "Calico has no pool or address for it, or " + peer + " is not ready"
	}
	return out
}

// describe names the route to a destination, in the words of ip route.
func (w *ways) describe(dst netip.Prefix) string {
	r, rule := w.routing.to(dst, w.from[dst.Addr().Is6()])
	switch {
	case rule != nil:
		return fmt.Sprintf("rule %d: %s", rule.Priority, rule.Type)
	case r == nil:
		return "no route"
	case r.Type != "":
		return r.Type + " " + r.Dst.String()
	}
	says := r.Dst.String()
	if r.Dst.Bits() == 0 {
		says = "default"
	}
	if r.Gateway.IsValid() {
		says += " via " + r.Gateway.String()
	}
	if l := w.p.LinkAt(w.n.Name, r.Link); l != nil {
		says += " dev " + plain(l.Name, maxName)
	}
	return says
}
