package planner

import (
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
)

// userOf gives the only pod that has an address: by status or annotation, else by the
// sandbox that its own node reports.
func (b *builder) userOf(ip netip.Addr) (*model.Pod, *repair.Refusal) {
	v := b.view
	var pods []*model.Pod
	add := func(pod *model.Pod) {
		if pod != nil && !slices.Contains(pods, pod) {
			pods = append(pods, pod)
		}
	}
	for pod := range v.PodsWith(ip) {
		add(pod)
	}
	if len(pods) == 0 {
		for at := range v.AttachmentsWith(ip) {
			if sandbox := v.SandboxNamed(at.Node, at.Sandbox); sandbox != nil && sandbox.Ready {
				if pod := v.PodByUID(sandbox.UID); pod != nil && pod.Node == sandbox.Node {
					add(pod)
				}
			}
		}
	}
	switch {
	case len(pods) > 1:
		return nil, refuse("repair the duplicate address (PL2010) first", "%d pods have %s", len(pods), ip)
	case len(pods) == 0:
		return nil, refuse("check what runs in that sandbox; when it exits, nothing needs a record", "no pod in Kubernetes has %s", ip)
	case pods[0].NoIPAM:
		return nil, refuse("exclude such addresses from IPAM with an IPReservation", "the pod requested %s without IPAM", ip)
	}
	return pods[0], nil
}
