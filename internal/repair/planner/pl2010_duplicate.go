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

// planDuplicate leaves a duplicate address to one pod. First IPAM records the address for
// that pod: the DEL of another pod releases by its own handle, and must not find the address
// there. Then the other pods are evicted.
func planDuplicate(b *builder, f *finding.Finding) *repair.Refusal {
	ip, err := netip.ParseAddr(f.Subject.Name)
	if err != nil {
		return &repair.Refusal{Why: "its subject is not an IP address"}
	}
	s, no := b.duplicateOf(ip)
	if no == nil {
		no = s.choose()
	}
	if no == nil {
		no = s.evictable()
	}
	if no == nil {
		no = b.ownsOtherDuplicates(s)
	}
	var t *runningPod
	if no == nil {
		t, no = b.runningPodOf(s.stays.pod)
	}
	var p *assignment
	if no == nil {
		spared := s.pods()
		p, no = b.assignment(t, ip, b.fromOtherPod(t, spared...), spared...)
	}
	if no == nil && p == nil && len(s.goes) == 0 {
		no = refuse("run plumbline check again when the other pods are gone; if one stays, delete it at a convenient time", "only the sandbox of %s has it, and IPAM agrees: the other pods are being deleted, or have it only in their status, annotation or endpoint", t.name())
	}
	if no != nil {
		return no
	}
	b.leaveTo(f, s, t, p)
	return nil
}

// routeNote says what becomes of the route of the pod that stays: Felix moves it from a pod that it knows, and leaves one
// that leads elsewhere.
func (s *duplicate) routeNote(t *runningPod) []string {
	switch {
	case s.stays.routed:
		return nil
	case slices.ContainsFunc(s.goes, func(o *duplicateOwner) bool { return o.routed && o.pod.Node == t.pod.Node }):
		return []string{"the route moves to " + t.name() + ": connections to " + s.ip.String() + " break"}
	}
	return []string{t.pod.Node + " does not route " + s.ip.String() + " to any of these pods: if Felix does not set the route, apply names what is left, and PL3003 needs a plan of its own"}
}

// leaveTo plans the transfer to t in IPAM, then the evictions.
func (b *builder) leaveTo(f *finding.Finding, s *duplicate, t *runningPod, p *assignment) {
	risk := change.Safe
	if p != nil {
		risk = b.routed(t, p)
	}
	if len(s.goes) > 0 {
		risk = change.Destructive
	}
	target := b.target(f, risk, t.proof())
	target.Warnings = append([]string{t.name() + " keeps it: " + s.why}, s.notes...)
	target.Warnings = append(target.Warnings, s.routeNote(t)...)
	var block netip.Prefix
	if p != nil {
		target.Watch = b.watchSeconds()
		block = p.block
		b.record(f, t, p)
	} else if at, _ := b.onlyBlock(s.ip); at != nil {
		block = at.CIDR
	}
	for _, o := range s.goes {
		handle := o.handle(b)
		if b.handleOf(handle) != nil && (p == nil || p.from == nil || p.from.Handle != handle) {
			var held []*model.Allocation
			for a := range b.view.AllocationsBy(handle) {
				held = append(held, a)
			}
			b.recount(f, handle, held)
		}
	}
	if len(s.goes) > 0 {
		target.NoUndo = "an evicted pod cannot be restored: its controller creates another"
	}
	for _, o := range s.goes {
		pod := o.pod
		target.Touches = append(target.Touches, pod.Namespace+"/"+pod.Name+" of "+pod.Owner+" is evicted")
		if o.turn() == lastTurn {
			target.Warnings = append(target.Warnings, pod.Namespace+"/"+pod.Name+" belongs to a StatefulSet: pods are evicted one at a time, and data on local disks stays on the node")
		}
		if strings.HasPrefix(pod.Owner, "Job/") {
			target.Warnings = append(target.Warnings, pod.Namespace+"/"+pod.Name+" belongs to a Job, which may count the eviction as a failure")
		}
		keep := change.Keep{IP: s.ip, Block: block, Handle: t.handle()}
		has := change.RunningPod{Namespace: pod.Namespace, Pod: pod.Name, UID: pod.UID, Static: pod.Static, Node: pod.Node, Container: o.sandbox.ID, IPs: addressesIn(b.view.Inside(pod.Node, o.sandbox.ID))}
		b.step(actOnNodes, f, "evict", pod.Ref(), &change.Evict{UID: pod.UID, Keeps: []change.Keep{keep}, Has: has})
	}
}

func addressesIn(a *model.Attachment) []netip.Addr {
	var out []netip.Addr
	for _, p := range a.IPs {
		out = append(out, p.Addr())
	}
	return out
}

// ownsOtherDuplicates refuses if a pod to evict has another duplicate address that this plan
// does not repair: the DEL of the evicted pod could release it while another pod uses it.
func (b *builder) ownsOtherDuplicates(s *duplicate) *repair.Refusal {
	for _, o := range s.goes {
		for _, ip := range addressesIn(b.view.Inside(o.pod.Node, o.sandbox.ID)) {
			alone := true
			for other := range b.view.PodsWith(ip) {
				alone = alone && other == o.pod
			}
			if key := finding.KeyOf(finding.PL2010, ip.String()); ip != s.ip && !alone && !b.planned[key] {
				return refuse("plan "+key+" with it", "%s/%s, which would be evicted, also has the duplicate address %s", o.pod.Namespace, o.pod.Name, ip)
			}
		}
	}
	return nil
}
