package planner

import (
	"net/netip"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/repair"
)

// planUnrecorded records an address that a running pod uses and that IPAM has as free.
func planUnrecorded(b *builder, f *finding.Finding) *repair.Refusal {
	ip, err := netip.ParseAddr(f.Subject.Name)
	if err != nil {
		return &repair.Refusal{Why: "its subject is not an IP address"}
	}
	pod, no := b.userOf(ip)
	var t *runningPod
	if no == nil {
		t, no = b.runningPodOf(pod)
	}
	var p *assignment
	if no == nil {
		p, no = b.assignment(t, ip, nil)
	}
	switch {
	case no != nil:
		return no
	case p == nil:
		return &repair.Refusal{Why: "IPAM now has the address for the pod", Advice: "run plumbline check again"}
	}
	target := b.target(f, b.routed(t, p), t.proof())
	target.Watch = b.watchSeconds()
	if p.missing != nil {
		target.Warnings = append(target.Warnings, "all nodes will route "+p.block.String()+" to "+p.home)
	}
	b.record(f, t, p)
	return nil
}
