package planner

import (
	"net/netip"
	"strings"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair/change"
)

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
