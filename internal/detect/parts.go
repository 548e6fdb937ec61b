package detect

import (
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/model"
)

// addParts notes routes and rules that are about less than a block: they take its packets for
// themselves. Those that reject say by themselves what is wrong.
func (w *ways) addParts() {
	all := w.p.RoutesOn(w.n.Name)
	for i := range all {
		r := &all[i]
		switch {
		case rejects(r.Type) && r.Table == tableMain:
			if got, _ := w.routing.to(r.Dst, w.from[r.Dst.Addr().Is6()]); got == r {
				w.parts = append(w.parts, fault{dst: r.Dst, why: "a route of type " + r.Type + " is in front of the way to their block", ref: w.n.Ref(), since: r.Since})
			}
		case r.Type == "" && r.Table != tableLocal && !w.toPod(r) && w.isPart(r.Dst):
			w.parts = append(w.parts, fault{dst: r.Dst})
		}
	}
	for i := range w.routing.rules {
		u := &w.routing.rules[i]
		switch {
		case !u.Dst.IsValid():
		case rejects(u.Type):
			if _, got := w.routing.to(u.Dst, w.from[u.Dst.Addr().Is6()]); got == u {
				w.parts = append(w.parts, fault{dst: u.Dst, why: ruleInFront(u), ref: w.n.Ref(), since: u.Since})
			}
		case w.isPart(u.Dst):
			w.parts = append(w.parts, fault{dst: u.Dst})
		}
	}
}

// toPod reports whether a route leads to an interface of a pod: whose it is, PL3001 and PL3003 say.
func (w *ways) toPod(r *model.Route) bool {
	l := w.p.LinkAt(w.n.Name, r.Link)
	return l != nil && (l.Kind == "veth" || l.Kind == "netkit")
}

// isPart reports whether a prefix is smaller than the blocks of its pool, and no node's tunnel address,
// to which Felix makes routes.
func (w *ways) isPart(dst netip.Prefix) bool {
	pool := w.p.PoolAround(dst)
	if pool == nil || pool.BlockSize == 0 || dst.Bits() <= pool.BlockSize {
		return false
	}
	return !dst.IsSingleIP() || w.p.TunnelWith(dst.Addr()) == nil
}

// judgeParts judges what was noted, where pods of another node have addresses in it. Of borrowed
// addresses Calico has routes of its own, which are judged as such.
func (w *ways) judgeParts() {
	for _, f := range w.parts {
		for b := range w.p.BlocksWith(f.dst.Addr()) {
			peer := w.peer(b.Node())
			if peer == nil || b.CIDR.Bits() >= f.dst.Bits() || b.Deleted || !inUse(b, f.dst) {
				continue
			}
			if f.why == "" && slices.ContainsFunc(w.from[f.dst.Addr().Is6()], f.dst.Contains) {
				continue // a pod of this node has it: its record names another one, which is PL1003
			}
			if f.why == "" {
				g := w.fault(f.dst, peer, w.p.PoolAround(f.dst))
				f.why, f.ref, f.since = g.why, g.ref, g.since
			}
			if f.why != "" {
				f.peer = peer.Name
				w.faults = append(w.faults, f)
			}
		}
	}
}

// inUse reports whether an address in a prefix of the block is a pod's, and its block's node's own: each
// other one has a route by itself.
func inUse(b *model.Block, dst netip.Prefix) bool {
	for _, slot := range b.Held {
		if slot[0] >= 0 && slot[1] >= 0 && int(slot[1]) < len(b.Attributes) && dst.Contains(model.Offset(b.CIDR, slot[0])) {
			if at := &b.Attributes[slot[1]]; at.Pod != "" && (at.Node == "" || at.Node == b.Node()) {
				return true
			}
		}
	}
	return false
}
