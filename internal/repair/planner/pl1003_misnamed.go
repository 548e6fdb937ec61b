package planner

import (
	"cmp"
	"net/netip"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/change"
)

// planMisnamed makes an allocation name the pod that uses the address. It takes two writes.
// The IPAM garbage collector caches an allocation by handle and address and does not read it
// again: if only the attribute were corrected, it would release the address minutes later.
// The first write puts a temporary handle, so the collector drops its cached entry; the second
// puts the right handle, which it reads as new. Invariants: the ordinal is never free in
// between, and the node attribute stays set, because remote nodes route borrowed addresses
// by it.
func planMisnamed(b *builder, f *finding.Finding) *repair.Refusal {
	ip, err := netip.ParseAddr(f.Subject.Name)
	if err != nil || b.view.AllocationOf(ip) == nil {
		return &repair.Refusal{Why: "the address is not allocated any more", Advice: "run plumbline check again"}
	}
	pod, no := b.userOf(ip)
	var t *runningPod
	if no == nil {
		t, no = b.runningPodOf(pod)
	}
	var p *assignment
	if no == nil {
		p, no = b.assignment(t, ip, b.fromOtherPod(t))
	}
	switch {
	case no != nil:
		return no
	case p == nil || p.right || p.from == nil:
		return &repair.Refusal{Why: "IPAM now names the right owner", Advice: "run plumbline check again"}
	}
	p.hold = true
	// Only the node attribute affects routes. If it stays the same the repair is safe.
	target := b.target(f, b.routed(t, p), t.proof())
	target.Watch = b.watchSeconds()
	if target.Risk != change.Safe {
		target.Touches = append(target.Touches, t.name()+": nodes that routed it to "+cmp.Or(p.from.Node, "the node of its block")+" will route it to "+t.pod.Node)
	}
	for _, name := range b.calicoNamesOf(t.pod.Node) {
		if name != "" && !b.view.SameNode(name, t.pod.Node) {
			target.Warnings = append(target.Warnings, "the cause remains: Calico on "+t.pod.Node+" still uses the node name "+name+" (PL5003), so its next pod gets a wrong record too")
			break
		}
	}
	b.record(f, t, p)
	return nil
}
