package repair

import (
	"net/netip"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair/change"
)

// planTunnel keeps the tunnel address of a node for the node. If the address is free in
// IPAM it is recorded, before calico-node checks it: calico-node would take another address,
// and every route to the node would change. If another user has it, calico-node is restarted
// and takes another address.
func planTunnel(b *builder, f *finding.Finding) *Refusal {
	ip, err := netip.ParseAddr(f.Subject.Name)
	node := b.view.TunnelWith(ip)
	if err != nil || node == nil {
		return &Refusal{Why: "no tunnel has the address any more", Advice: "run plumbline check again"}
	}
	i := slices.IndexFunc(node.Tunnels, func(t model.Tunnel) bool { return t.IP == ip })
	owner := tunnelOwner(node.Tunnels[i].Kind, b.view.CalicoName(node.Name))
	block, no := b.onlyBlock(ip)
	switch rival := b.otherThanTunnel(ip); {
	case no != nil:
		return no
	case owner == nil:
		return &Refusal{Why: "tunnel type " + node.Tunnels[i].Kind + " is not supported", Advice: "restart calico-node on " + node.Name}
	case b.computed():
		return &Refusal{Why: "tunnel addresses are computed from the nodes' pod CIDRs (USE_POD_CIDR)", Advice: "no action needed: they are not recorded in IPAM"}
	case b.view.AllocationOf(ip) != nil || rival != "":
		return b.restartNode(f, node, rival)
	case block == nil:
		return &Refusal{Why: "the address has no block", Advice: "repair a PL1002 of its range first, which creates the block; or restart calico-node on " + node.Name + ", which takes another address"}
	case !slices.ContainsFunc(block.Free, func(n int32) bool { return model.Offset(block.CIDR, n) == ip }):
		return &Refusal{Why: block.CIDR.String() + " lists the address neither as allocated nor as free", Advice: "repair PL1004/" + block.CIDR.String() + " first"}
	default:
		b.target(f, change.Safe, change.Proof{})
		b.step(raiseHandles, f, "count", handleRef(owner.Handle), &change.Count{Handle: owner.Handle, Raise: []change.Raise{{Block: block.CIDR, IPs: []netip.Addr{ip}}}})
		b.step(writeOrdinals, f, "record", block.Ref(), change.Ordinals{{For: f.Key(), IP: ip, To: owner}})
	}
	return nil
}

// tunnelOwner gives the attribute that calico-node writes for a tunnel address; nil if the
// type is not known. calico-node writes no timestamp.
func tunnelOwner(kind, node string) *change.Owner {
	types := map[string]string{
		"ipip": "ipipTunnelAddress", "vxlan": "vxlanTunnelAddress", "vxlan-v6": "vxlanV6TunnelAddress",
		"wireguard": "wireguardTunnelAddress", "wireguard-v6": "wireguardV6TunnelAddress",
	}
	if types[kind] == "" {
		return nil
	}
	return &change.Owner{Handle: kind + "-tunnel-addr-" + node, Secondary: map[string]string{"node": node, "type": types[kind]}}
}

// otherThanTunnel names a pod, service or sandbox that has the address; empty if none.
func (b *builder) otherThanTunnel(ip netip.Addr) string {
	for c := range b.view.Claims(ip) {
		switch c.By {
		case model.ByPod:
			return b.view.Pod(c.Row).Ref().Name
		case model.ByService:
			return b.view.Service(c.Row).Ref().Name
		case model.BySandbox:
			return b.view.Attachment(c.Row).Ref().Name
		case model.ByTunnel, model.ByEndpoint:
		}
	}
	return ""
}

// computed reports that tunnel addresses come from the nodes' pod CIDRs.
func (b *builder) computed() bool {
	for i := range int32(len(b.view.Snapshot().Components)) {
		if c := b.view.Component(i); c.Name == "calico-node" && strings.EqualFold(c.Settings["USE_POD_CIDR"], "true") {
			return true
		}
	}
	return false
}

// restartNode restarts calico-node: it finds its tunnel address in use and takes another.
func (b *builder) restartNode(f *finding.Finding, node *model.Node, rival string) *Refusal {
	for pod := range b.view.PodsOn(node.Name) {
		if pod.Owner != "DaemonSet/calico-node" || pod.UID == "" || !pod.Deleted.IsZero() {
			continue
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
	return &Refusal{Why: "IPAM has the address for another owner, and the calico-node pod on " + node.Name + " was not found", Advice: "restart calico-node on " + node.Name + ": it takes another address"}
}
