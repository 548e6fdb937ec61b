package planner

import (
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
)

// otherUser refuses if anything except the running pod has the address, by any source. The
// pods in spared are not considered: the plan handles them.
func (b *builder) otherUser(t *runningPod, ip netip.Addr, spared ...*model.Pod) *repair.Refusal {
	v := b.view
	const advice = "repair the duplicate address (PL2010) first"
	for c := range v.Claims(ip) {
		switch c.By {
		case model.ByPod:
			if pod := v.Pod(c.Row); pod != t.pod && !slices.Contains(spared, pod) {
				return refuse(advice, "%s/%s has %s in its status or annotation", pod.Namespace, pod.Name, ip)
			}
		case model.ByTunnel:
			if n := v.Node(c.Row); !slices.Contains(n.Addresses, ip) {
				return refuse(advice, "%s has %s as tunnel address", n.Name, ip)
			}
		case model.ByService:
			s := v.Service(c.Row)
			return refuse(advice, "service %s/%s has %s", s.Namespace, s.Name, ip)
		case model.ByEndpoint:
			e := v.Endpoint(c.Row)
			pod := v.PodByName(e.Namespace, e.Pod)
			if pod != nil && pod != t.pod && pod.Networked() && v.SameNode(e.Node, pod.Node) && !slices.Contains(spared, pod) {
				return refuse(advice, "the endpoint of %s/%s has %s", e.Namespace, e.Pod, ip)
			}
		case model.BySandbox:
			if no := b.otherSandbox(t, v.Attachment(c.Row), ip, spared); no != nil {
				return no
			}
		}
	}
	return nil
}

// otherSandbox refuses if another sandbox has the address on its Calico interface. Other
// interfaces in a pod do not count: a docker0 may have any address.
func (b *builder) otherSandbox(t *runningPod, at *model.Attachment, ip netip.Addr, spared []*model.Pod) *repair.Refusal {
	v := b.view
	if at.Node == t.sandbox.Node && at.Sandbox == t.sandbox.ID {
		return nil
	}
	sandbox := v.SandboxNamed(at.Node, at.Sandbox)
	if sandbox == nil {
		return refuse("check what runs in that namespace", "%s is in use on %s in %s, which belongs to no sandbox", ip, at.Node, at.NetNS)
	}
	if device, _ := v.DeviceOf(at.Node, at.Sandbox); at.Device != device {
		return nil
	}
	for _, pod := range spared {
		if sandbox.Node == pod.Node && (sandbox.UID == pod.UID || pod.Static != "" && sandbox.UID == pod.Static) {
			return nil
		}
	}
	return refuse("repair the duplicate address (PL2010) first", "sandbox %s of %s/%s on %s has %s", shortID(sandbox.ID), sandbox.Namespace, sandbox.Pod, sandbox.Node, ip)
}
