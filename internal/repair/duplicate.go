package repair

import (
	"net/netip"
	"strings"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// planDuplicate leaves a shared address to one of its owners. The ledger names that one
// first: the DEL of another frees by its own handle, and must find nothing there. Then
// Kubernetes is asked to end the others.
func planDuplicate(b *builder, f *finding.Finding) {
	ip, err := netip.ParseAddr(f.Subject.Name)
	if err != nil {
		b.refuse(f, "it is about no address", "")
		return
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
		no = refuse("look again when the others are gone; of one that stays, end the pod when it suits", "only %s really has it, and the ledger says so: the others end, or only their books say so", t.name())
	}
	if no != nil {
		b.refuse(f, no.why, no.advice)
		return
	}
	b.leaveTo(f, s, t, p)
}

// leaveTo plans the transfer and the evictions.
func (b *builder) leaveTo(f *finding.Finding, s *duplicate, t *runningPod, p *assignment) {
	risk := Safe
	if p != nil {
		risk = b.routed(t, p)
	}
	if len(s.goes) > 0 {
		risk = Destructive
	}
	target := b.target(f, risk, t.proof())
	target.Warnings = append([]string{t.name() + " keeps it: " + s.why}, s.notes...)
	if !s.stays.routed {
		target.Warnings = append(target.Warnings, "the route to it moves to "+t.name()+": connections to "+s.ip.String()+" break")
	}
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
		target.NoUndo = "a pod that was evicted does not come back: its controller makes another"
	}
	for _, o := range s.goes {
		pod := o.pod
		target.Touches = append(target.Touches, pod.Namespace+"/"+pod.Name+" of "+pod.Owner+" is evicted")
		if o.turn() == lastTurn {
			target.Warnings = append(target.Warnings, pod.Namespace+"/"+pod.Name+" is of a StatefulSet: one at a time, and data on its node's own disks stays there")
		}
		if strings.HasPrefix(pod.Owner, "Job/") {
			target.Warnings = append(target.Warnings, pod.Namespace+"/"+pod.Name+" is of a Job, which may count that as a failure")
		}
		keep := Keep{IP: s.ip, Block: block, Handle: t.handle()}
		has := RunningPod{Namespace: pod.Namespace, Pod: pod.Name, UID: pod.UID, Static: pod.Static, Node: pod.Node, Container: o.sandbox.ID, IPs: addressesIn(b.view.Inside(pod.Node, o.sandbox.ID))}
		b.step(actOnNodes, f, "evict", pod.Ref(), Change{Evict: &Evict{UID: pod.UID, Keeps: []Keep{keep}, Has: has}})
	}
}

func addressesIn(a *model.Attachment) []netip.Addr {
	var out []netip.Addr
	for _, p := range a.IPs {
		out = append(out, p.Addr())
	}
	return out
}

// ownsOtherDuplicates objects if one that goes shares another address of which this plan does not
// decide too: its DEL would free that one under whoever has it.
func (b *builder) ownsOtherDuplicates(s *duplicate) *refusal {
	for _, o := range s.goes {
		for _, ip := range addressesIn(b.view.Inside(o.pod.Node, o.sandbox.ID)) {
			alone := true
			for other := range b.view.PodsWith(ip) {
				alone = alone && other == o.pod
			}
			if key := "PL2010/" + ip.String(); ip != s.ip && !alone && !b.planned[key] {
				return refuse("plan "+key+" with it", "%s/%s, which would go, shares %s as well", o.pod.Namespace, o.pod.Name, ip)
			}
		}
	}
	return nil
}
