package planner

import (
	"net/netip"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/change"
)

// The agent verifies and changes a node object atomically. The arguments of a step identify
// the object by numbers (index, inode), never by name alone: a name can be reused.

// await adds the steps that wait until Felix has set the routes of a running pod.
func (b *builder) await(f *finding.Finding, t *runningPod) {
	for _, ip := range t.ips {
		on := model.Ref{Kind: model.KindPath, Name: t.pod.Node + "/" + ip.String()}
		b.step(actOnNodes, f, "wait", on, &change.Await{Node: t.pod.Node, IP: ip, Device: t.outside.Name, Seconds: felixTime})
	}
}

// runningPodOn finds the running pod of a finding. It refuses also if another user has one of its addresses.
func (b *builder) runningPodOn(f *finding.Finding) (*runningPod, *repair.Refusal) {
	ns, name, _ := strings.Cut(f.Subject.Name, "/")
	pod := b.view.PodByName(ns, name)
	if pod == nil {
		return nil, &repair.Refusal{Why: "the pod is gone", Advice: "run plumbline check again"}
	}
	t, no := b.runningPodOf(pod)
	if no != nil {
		return nil, no
	}
	for _, ip := range t.ips {
		if no := b.otherUser(t, ip); no != nil {
			return nil, no
		}
	}
	slices.SortFunc(t.ips, netip.Addr.Compare)
	return t, nil
}
