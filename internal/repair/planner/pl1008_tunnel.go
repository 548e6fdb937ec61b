package planner

import (
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/change"
)

// planTunnel keeps the tunnel address of a node for the node. If the address is free in
// IPAM it is recorded, before calico-node checks it: calico-node would take another address,
// and every route to the node would change. If another user has it, calico-node is restarted
// and takes another address.
func planTunnel(b *builder, f *finding.Finding) *repair.Refusal {
	ip, err := netip.ParseAddr(f.Subject.Name)
	node := b.view.TunnelWith(ip)
	if err != nil || node == nil {
		return &repair.Refusal{Why: "no tunnel has the address any more", Advice: "run plumbline check again"}
	}
	i := slices.IndexFunc(node.Tunnels, func(t model.Tunnel) bool { return t.IP == ip })
	owner := change.TunnelOwner(node.Tunnels[i].Kind, b.view.CalicoName(node.Name))
	block, no := b.onlyBlock(ip)
	switch rival := b.otherThanTunnel(ip); {
	case no != nil:
		return no
	case owner == nil:
		return &repair.Refusal{Why: "tunnel type " + node.Tunnels[i].Kind + " is not supported", Advice: "restart calico-node on " + node.Name}
	case b.computed():
		return &repair.Refusal{Why: "tunnel addresses are computed from the nodes' pod CIDRs (USE_POD_CIDR)", Advice: "no action needed: they are not recorded in IPAM"}
	case b.view.AllocationOf(ip) != nil || rival != "":
		return b.restartNode(f, node, rival)
	case block == nil:
		return &repair.Refusal{Why: "the address has no block", Advice: "repair a PL1002 of its range first, which creates the block; or restart calico-node on " + node.Name + ", which takes another address"}
	case !slices.ContainsFunc(block.Free, func(n int32) bool { return model.Offset(block.CIDR, n) == ip }):
		return &repair.Refusal{Why: block.CIDR.String() + " lists the address neither as allocated nor as free", Advice: "repair PL1004/" + block.CIDR.String() + " first"}
	default:
		b.target(f, change.Safe, change.Proof{})
		b.step(raiseHandles, f, "count", handleRef(owner.Handle), &change.Count{Handle: owner.Handle, Raise: []change.Raise{{Block: block.CIDR, IPs: []netip.Addr{ip}}}})
		b.step(writeOrdinals, f, "record", block.Ref(), change.Ordinals{{For: f.Key(), IP: ip, To: owner}})
	}
	return nil
}

// unready names a node that is Ready and whose calico-node is not, other than that of a pod.
func (b *builder) unready(but *model.Pod) string {
	v := b.view
	for i := range int32(v.Rows(model.Pods)) {
		p := v.Pod(i)
		if p == but || p.Owner != change.RestartOwner || p.Ready || p.Finished() {
			continue
		}
		if n := v.NodeByName(p.Node); n != nil && n.Ready {
			return n.Name
		}
	}
	return ""
}

// restartNode restarts calico-node: it finds its tunnel address in use and takes another.
func (b *builder) restartNode(f *finding.Finding, node *model.Node, rival string) *repair.Refusal {
	for pod := range b.view.PodsOn(node.Name) {
		if pod.Owner != change.RestartOwner || pod.UID == "" || !pod.Deleted.IsZero() {
			continue
		}
		if other := b.unready(pod); other != "" {
			return &repair.Refusal{Why: "calico-node on " + other + " is not Ready: another restart could fail like it", Advice: "make calico-node on " + other + " ready, then plan again"}
		}
		t := b.target(f, change.Disruptive, change.Proof{})
		t.NoUndo = "a restart of calico-node needs no undo"
		t.Warnings = []string{"traffic between " + node.Name + " and all other nodes moves to another tunnel address"}
		if rival != "" {
			t.Warnings = append(t.Warnings, rival+" keeps "+f.Subject.Name)
		}
		t.Touches = []string{pod.Ref().Name}
		b.step(actOnNodes, f, "restart", pod.Ref(), &change.Restart{UID: pod.UID})
		return nil
	}
	return &repair.Refusal{Why: "IPAM has the address for another owner, and the calico-node pod on " + node.Name + " was not found", Advice: "restart calico-node on " + node.Name + ": it takes another address"}
}
