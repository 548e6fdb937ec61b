package planner

import (
	"net/netip"
	"strings"

	"plumbline.dev/plumbline/internal/model"
)

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
