package repair

import (
	"net/netip"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// planTunnel keeps a node's tunnel address for its node (1.7). One that is free is recorded
// before calico-node looks: it would take another, and every route to the node would move.
// One that a pod has stays the pod's, and calico-node must look.
func planTunnel(b *builder, f *finding.Finding) {
	ip, err := netip.ParseAddr(f.Subject.Name)
	node := b.view.TunnelWith(ip)
	if err != nil || node == nil {
		b.refuse(f, "no tunnel has it any more", "look again")
		return
	}
	i := slices.IndexFunc(node.Tunnels, func(t model.Tunnel) bool { return t.IP == ip })
	owner := tunnelOwner(node.Tunnels[i].Kind, b.view.CalicoName(node.Name))
	block, no := b.onlyBlock(ip)
	switch rival := b.otherThanTunnel(ip); {
	case no != nil:
		b.refuse(f, no.why, no.advice)
	case owner == nil:
		b.refuse(f, "a tunnel of kind "+node.Tunnels[i].Kind+" is not known", "restart calico-node on "+node.Name)
	case b.computed():
		b.refuse(f, "tunnel addresses are computed from the nodes' own ranges here (USE_POD_CIDR)", "nothing is to be recorded")
	case b.view.AllocationOf(ip) != nil || rival != "":
		b.restartNode(f, node, rival)
	case block == nil:
		b.refuse(f, "it has no block", "repair PL1002 of its range first, which makes one; or restart calico-node on "+node.Name+", which takes another address")
	case !slices.ContainsFunc(block.Free, func(n int32) bool { return model.Offset(block.CIDR, n) == ip }):
		b.refuse(f, block.CIDR.String()+" says that it is neither held nor free", "repair PL1004/"+block.CIDR.String()+" first")
	default:
		b.target(f, Safe, Proof{})
		b.step(raiseHandles, f, "count", handleRef(owner.Handle), Change{Count: &Count{Handle: owner.Handle, Raise: []Raise{{block.CIDR, []netip.Addr{ip}}}}})
		b.step(writeOrdinals, f, "record", block.Ref(), Change{Ordinals: []Ordinal{{For: f.Key(), IP: ip, To: owner}}})
	}
}

// tunnelOwner is what calico-node writes about a tunnel's address; nil if it has none of
// that kind. There is no timestamp, on purpose.
func tunnelOwner(kind, node string) *Owner {
	types := map[string]string{
		"ipip": "ipipTunnelAddress", "vxlan": "vxlanTunnelAddress", "vxlan-v6": "vxlanV6TunnelAddress",
		"wireguard": "wireguardTunnelAddress", "wireguard-v6": "wireguardV6TunnelAddress",
	}
	if types[kind] == "" {
		return nil
	}
	return &Owner{Handle: kind + "-tunnel-addr-" + node, Secondary: map[string]string{"node": node, "type": types[kind]}}
}

// otherThanTunnel names who else says that the address is his; empty if nobody.
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

// computed tells that tunnels take their addresses from the nodes' own ranges.
func (b *builder) computed() bool {
	for i := range int32(len(b.view.Snapshot().Components)) {
		if c := b.view.Component(i); c.Name == "calico-node" && strings.EqualFold(c.Settings["USE_POD_CIDR"], "true") {
			return true
		}
	}
	return false
}

// restartNode has calico-node look again: it finds its address taken, and takes another.
func (b *builder) restartNode(f *finding.Finding, node *model.Node, rival string) {
	for pod := range b.view.PodsOn(node.Name) {
		if pod.Owner != "DaemonSet/calico-node" || pod.UID == "" || !pod.Deleted.IsZero() {
			continue
		}
		t := b.target(f, Disruptive, Proof{})
		t.NoUndo = "calico-node has read everything again, which takes nothing from anybody"
		t.Warnings = []string{"traffic between " + node.Name + " and all other nodes moves to another tunnel address"}
		if rival != "" {
			t.Warnings = append(t.Warnings, rival+" keeps "+f.Subject.Name)
		}
		t.Touches = []string{pod.Ref().Name}
		b.step(actOnNodes, f, "restart", pod.Ref(), Change{Restart: &RestartOf{UID: pod.UID}})
		return
	}
	b.refuse(f, "the ledger gives it to another, and calico-node of "+node.Name+" was not found", "restart calico-node on "+node.Name+": it takes another address")
}
