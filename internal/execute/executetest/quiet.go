package executetest

import (
	"fmt"
	"slices"
	"time"

	"plumbline.dev/plumbline/internal/calico/object"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
)

// quiet lets everybody finish: all nodes answer, nothing new begins, and Calico's collector
// has time to do what it means to do.
func (w *World) quiet() {
	w.rate = 0
	for _, n := range w.nodes {
		n.silent, n.half = false, false
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

// left tells what is still wrong although the plan says that it is done.
func (r *run) left() {
	w := r.w
	if r.ended != nil {
		return // it said that it did not come to its end
	}
	for i := range r.plan.Targets {
		t := &r.plan.Targets[i]
		if l := t.Proof.Running; l != nil && r.result.Findings[t.Finding].Outcome == repair.Done {
			w.stillHeld(t.Finding, l)
		}
	}
	for _, b := range w.calico.all(model.KindBlock) {
		for o := range int32(perBlock) {
			if at := holder(b.value.(*object.Block), o); at != nil && len(at.Handle.V) > len(repair.HoldPrefix) && at.Handle.V[:len(repair.HoldPrefix)] == repair.HoldPrefix {
				w.harm("%s #%d is still held by %s after all is done", b.ref, o, at.Handle.V)
			}
		}
	}
	for _, f := range w.remains() {
		t := r.plan.Target(f.Key())
		if t == nil || r.result.Findings[f.Key()].Outcome != repair.Done && r.result.Findings[f.Key()].Outcome != repair.Already {
			continue
		}
		if same(t.Evidence, f.Evidence) && !w.touched(f) {
			w.harm("%s is left: %s", f.Key(), f.Summary)
		}
	}
}

// stillHeld: what was recorded for a pod that lives must be its own after the collector has
// had its time.
func (w *World) stillHeld(f string, l *repair.RunningPod) {
	n := w.node(l.Node)
	b := n.box(l.Container)
	if b == nil || !b.ready || w.kube.get(nodeRef(n.name)) == nil {
		return
	}
	for _, ip := range l.IPs {
		if is := w.holderOf(ip); is != handleOf(b.id) && slices.Contains(b.ips, ip) && f == fmt.Sprintf("%.6s/%s", f, ip) {
			w.harm("%s was repaired, and now %s, which its pod uses, is held by %q", f, ip, is)
		}
	}
}

// remains is what a last look finds, and finds again.
func (w *World) remains() []finding.Finding {
	first := w.audit(0, nil)
	w.now += (20 * time.Minute).Milliseconds()
	return w.audit(0, first.Memory).Findings
}

func same(a, b []finding.Evidence) bool {
	return slices.EqualFunc(a, b, func(x, y finding.Evidence) bool { return x.Ref == y.Ref && x.Says == y.Says })
}

// touched tells that another than us wrote last what the finding is about.
func (w *World) touched(f finding.Finding) bool {
	for _, e := range f.Evidence {
		if w.theirs[e.Ref] && e.Ref.Kind != model.KindBlock {
			return true
		}
	}
	return false
}
