package executetest

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"plumbline.dev/plumbline/internal/calico/object"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/change"
)

// quiet lets all tasks finish: all nodes answer, nothing new starts, and the IPAM garbage
// collector runs until it is done.
func (w *world) quiet() {
	w.rate = 0
	for _, n := range w.nodes {
		n.silent, n.half, n.lies = false, false, ""
		if w.kube.get(nodeRef(n.name)) != nil {
			n.cut = false
		}
	}
	w.drain()
	for i := range 12 {
		w.collector.settled = i > 2
		w.now += (w.collector.gracePeriod + 1) * second
		for range 12 {
			w.collector.task.wake = min(w.collector.task.wake, w.now)
			w.does(w.collector.task)
		}
	}
	w.drain()
}

// left reports findings that remain although the plan says that they are repaired.
func (r *run) left() {
	w := r.w
	if r.ended != nil {
		return // it reported that it ended early
	}
	for i := range r.plan.Targets {
		t := &r.plan.Targets[i]
		if l := t.Proof.Running; l != nil && r.result.Findings[t.Finding].Outcome == repair.Done {
			w.stillHeld(t.Finding, l)
		}
	}
	for _, b := range w.calico.all(model.KindBlock) {
		for o := range int32(perBlock) {
			if at := holder(b.value.(*object.Block), o); at != nil && len(at.Handle.V) > len(model.HoldPrefix) && at.Handle.V[:len(model.HoldPrefix)] == model.HoldPrefix {
				w.harm("%s #%d is still held by %s after all is done", b.ref, o, at.Handle.V)
			}
		}
	}
	for _, f := range w.remains() {
		t := r.plan.Target(f.Key())
		if t == nil || r.result.Findings[f.Key()].Outcome != repair.Done && r.result.Findings[f.Key()].Outcome != repair.Already {
			continue
		}
		if same(t.Evidence, f.Evidence) && !w.touched(f) && !w.podless(&f) {
			w.harm("%s is left: %s", f.Key(), f.Summary)
		}
	}
}

// stillHeld: an address that was recorded for a running pod must still be its own after the
// IPAM garbage collector ran.
func (w *world) stillHeld(f string, l *change.RunningPod) {
	n := w.node(l.Node)
	b := n.box(l.Container)
	if b == nil || !b.ready || w.kube.get(nodeRef(n.name)) == nil || w.podByUID(b.uid) == nil {
		return
	}
	for _, ip := range l.IPs {
		if is := w.holderOf(ip); is != handleOf(b.id) && slices.Contains(b.ips, ip) && f == fmt.Sprintf("%.6s/%s", f, ip) {
			w.harm("%s was repaired, and now %s, which its pod uses, is held by %q", f, ip, is)
		}
	}
}

// remains gives the findings of two last checks that both have.
func (w *world) remains() []finding.Finding {
	everything := func(*model.Snapshot) {}
	first := w.audit(0, nil, everything)
	w.now += (20 * time.Minute).Milliseconds()
	return w.audit(0, first.Memory, everything).Findings
}

func same(a, b []finding.Evidence) bool {
	return slices.EqualFunc(a, b, func(x, y finding.Evidence) bool { return x.Ref == y.Ref && x.Says == y.Says })
}

// podless reports that the address of a finding is used only by sandboxes whose pods are gone: the IPAM garbage collector frees it
// again, whoever recorded it.
func (w *world) podless(f *finding.Finding) bool {
	ip, err := netip.ParseAddr(f.Subject.Name)
	if err != nil {
		return false
	}
	us := w.users(ip)
	return len(us) > 0 && !slices.ContainsFunc(us, func(u user) bool { return u.uid == "" || w.podByUID(u.uid) != nil })
}

// touched reports that another writer wrote the object of a finding last.
func (w *world) touched(f finding.Finding) bool {
	for _, e := range f.Evidence {
		if w.theirs[e.Ref] && e.Ref.Kind != model.KindBlock {
			return true
		}
	}
	return false
}
