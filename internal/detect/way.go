package detect

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/model"
)

// fault says what is wrong with the way to dst, which belongs to peer; nothing if it leads there, or if
// that cannot be told. Since is set where it does not depend on what Calico's records say: Felix may
// be about to follow these.
func (w *ways) fault(dst netip.Prefix, peer *farNode, pool *model.Pool) fault {
	ips := peer.ips[dst.Addr().Is6()]
	tunnel, needed := w.tunnel(pool, ips)
	if w.encrypted(dst) {
		return w.leaves(encrypts)
	}
	var device *model.Link
	if needed {
		device = w.p.LinkNamed(w.n.Name, tunnel)
		switch {
		case device == nil:
			return fault{why: "the node has no " + tunnel, ref: w.n.Ref()}
		case !device.Up:
			return fault{why: tunnel + " is down", ref: device.Ref()}
		}
	}
	r, rule := w.routing.to(dst, w.from[dst.Addr().Is6()])
	switch {
	case rule != nil:
		return fault{why: ruleInFront(rule), ref: w.n.Ref(), since: rule.Since}
	case r == nil:
		return fault{why: "the node has no route", ref: w.n.Ref()}
	case rejects(r.Type):
		return fault{why: fmt.Sprintf("the route to %s is of type %s", r.Dst, r.Type), ref: w.n.Ref()}
	case r.Type != "":
		return fault{} // local
	case r.Link == 0:
		return w.leaves(severalHops)
	}
	l := w.p.LinkAt(w.n.Name, r.Link)
	switch {
	case l == nil:
		return fault{}
	case !l.Up:
		return fault{why: plain(l.Name, maxName) + " is down", ref: l.Ref()}
	case needed && l != device && pool.Mode == "CrossSubnet" && slices.Contains(ips, r.Gateway):
		return fault{} // Calico's subnet of the nodes is wider than that of the interface
	case needed && l != device && !dst.IsSingleIP() && r.Dst.Bits() < dst.Bits() && w.perPod(dst, device, pool.BlockSize):
		return w.leaves(perPod)
	case needed && l != device:
		return fault{why: fmt.Sprintf("%s takes them out by %s, not by %s", routeName(r), plain(l.Name, maxName), tunnel), ref: w.n.Ref()}
	case needed && pool.Tunnel == "VXLAN":
		return w.vxlan(r, l, peer)
	case needed:
		return fault{why: w.hop(r, peer, ips), ref: w.n.Ref()}
	default:
		return w.plainWay(r, l, peer, pool)
	}
}

// perPod reports whether there are routes to single addresses of a block over the tunnel instead of one to the block (routeSource
// WorkloadIPs).
func (w *ways) perPod(block netip.Prefix, device *model.Link, blockSize int) (single bool) {
	for _, r := range w.p.RoutesOn(w.n.Name) {
		switch {
		case r.Link != device.Index:
		case r.Dst.Bits() == blockSize && r.Gateway.IsValid():
			return false // another block has one
		case r.Dst.IsSingleIP() && block.Contains(r.Dst.Addr()):
			single = true
		}
	}
	return single
}

// tunnel names the interface that packets to a node must take, if they must take one.
func (w *ways) tunnel(pool *model.Pool, ips []netip.Addr) (name string, needed bool) {
	six := pool.CIDR.Addr().Is6()
	switch {
	case pool.Tunnel == "VXLAN" && six:
		name = "vxlan-v6.calico"
	case pool.Tunnel == "VXLAN":
		name = "vxlan.calico"
	case pool.Tunnel == "IPIP" && !six:
		name = "tunl0"
	default:
		return "", false
	}
	return name, pool.Mode == "Always" || pool.Mode == "CrossSubnet" && !w.sameSubnet(ips)
}

// sameSubnet reports whether a node is in a subnet of this one's address in Calico.
func (w *ways) sameSubnet(ips []netip.Addr) bool {
	for _, subnet := range w.subnets {
		if slices.ContainsFunc(ips, subnet.Contains) {
			return true
		}
	}
	return false
}

// encrypted reports whether WireGuard takes the packets: its peers are not read.
func (w *ways) encrypted(dst netip.Prefix) bool {
	return w.routing.over(dst, func(link int) bool {
		l := w.p.LinkAt(w.n.Name, link)
		return l != nil && l.Kind == "wireguard" && l.Up
	}) != nil
}

// vxlan follows a route over a VXLAN interface: tunnel address, MAC, address of the node.
func (w *ways) vxlan(r *model.Route, l *model.Link, peer *farNode) fault {
	six := r.Dst.Addr().Is6()
	ips, tunnels, theirs := peer.ips[six], peer.tunnels[six], peer.mac[six]
	if !r.Gateway.IsValid() || len(tunnels) == 0 {
		return fault{}
	}
	if !slices.Contains(tunnels, r.Gateway) {
		return fault{why: fmt.Sprintf("the route leads to the tunnel address %s; theirs is %s", r.Gateway, addrs(tunnels)), ref: w.n.Ref()}
	}
	var near *model.Neighbour
	for e := range w.p.NeighboursOf(w.n.Name, r.Gateway) {
		if e.Link == l.Index && !e.Proxy {
			near = e
		}
	}
	switch {
	case near == nil && w.closed.hasNeighbour(r.Gateway):
		return fault{} // it is as the records say
	case near == nil || near.MAC == "":
		return fault{why: fmt.Sprintf("the neighbour table has no MAC for their tunnel address %s on %s", r.Gateway, l.Name), ref: l.Ref()}
	case near.MAC != theirs && strings.HasPrefix(near.MAC, vtepPrefix):
		return fault{why: fmt.Sprintf("the neighbour table has MAC %s for %s on %s; theirs is %s", plain(near.MAC, maxName), r.Gateway, l.Name, theirs), ref: l.Ref()}
	case near.FDB == model.NoFDB:
		return fault{why: fmt.Sprintf("the forwarding database of %s has no entry for their MAC %s", l.Name, plain(near.MAC, maxName)), ref: l.Ref()}
	case near.FDB == "":
		return fault{} // an older agent
	}
	if to, err := netip.ParseAddr(near.FDB); err == nil && !slices.Contains(ips, to.Unmap()) {
		return fault{why: fmt.Sprintf("the forwarding database of %s sends them to %s; their node has %s", l.Name, to.WithZone(""), addrs(ips)), ref: l.Ref()}
	}
	return fault{}
}

// hop says what is wrong with the next hop of a route over an IPIP tunnel.
func (w *ways) hop(r *model.Route, peer *farNode, ips []netip.Addr) string {
	if !r.Gateway.IsValid() || slices.Contains(ips, r.Gateway) || slices.Contains(peer.Addresses, r.Gateway) {
		return ""
	}
	return fmt.Sprintf("the route leads to %s; their node has %s", r.Gateway, addrs(ips))
}

// plainWay judges a route without a tunnel. Where routers forward, their tables decide, which are not
// read; but a route to another node of the cluster is wrong, and in one subnet Calico makes its own.
func (w *ways) plainWay(r *model.Route, l *model.Link, peer *farNode, pool *model.Pool) fault {
	if pool.Mode == "CrossSubnet" && r.Dst.Bits() == 0 {
		return fault{why: fmt.Sprintf("the default route takes them out by %s, although their node is in the same subnet", plain(l.Name, maxName)), ref: w.n.Ref()}
	}
	if !r.Gateway.IsValid() || r.Dst.Bits() < pool.BlockSize || slices.Contains(peer.ips[r.Dst.Addr().Is6()], r.Gateway) || !w.sameSubnet(peer.ips[r.Dst.Addr().Is6()]) {
		return fault{}
	}
	for other := range w.p.NodesAt(r.Gateway) {
		if w.forwards(other, r.Dst, peer, pool) {
			continue // a route reflector that sets itself as next hop
		}
		return fault{why: fmt.Sprintf("the route leads to node %s (%s)", other.Name, r.Gateway), ref: w.n.Ref()}
	}
	return fault{}
}

// forwards reports whether another node sends packets on to their node, as its own routes say.
func (w *ways) forwards(other *model.Node, dst netip.Prefix, peer *farNode, pool *model.Pool) bool {
	if w.relay || other.Name == peer.Name || !w.p.Sees(other.Name, model.Links, model.Routes, model.Rules, model.Neighbours) {
		return false
	}
	next := newWays(w.p, other)
	next.relay = true // no further
	r, rule := next.routing.to(dst, nil)
	return rule == nil && r != nil && r.Dst.Bits() >= pool.BlockSize && slices.Contains(peer.ips[dst.Addr().Is6()], r.Gateway) && next.fault(dst, peer, pool).why == ""
}

func routeName(r *model.Route) string {
	if r.Dst.Bits() == 0 {
		return "the default route"
	}
	return "the route to " + r.Dst.String()
}
