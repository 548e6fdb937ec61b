package audit_test

import (
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/model"
)

// spoilt breaks what a new pod has inside.
func spoilt(spoil func(in *model.Attachment)) func(w *world) []string {
	return func(w *world) []string {
		at := w.spot()
		p := w.victim(at.node)
		in := w.inside(p)
		in.Since, in.Routes = at.since, slices.Clone(in.Routes)
		spoil(in)
		return []string{at.mark + "PL3006/ns/" + p.Name}
	}
}

func without(r []model.Route, dst netip.Prefix) []model.Route {
	return slices.DeleteFunc(r, func(r model.Route) bool { return r.Dst == dst })
}

// differs gives a new pod another address inside, which the ledger would give away.
func differs(change func(in *model.Attachment, other netip.Prefix)) func(w *world) []string {
	return func(w *world) []string {
		at := w.spot()
		p := w.runningOn(at.node)
		in, other := w.inside(p), w.take(w.blockOf(at.node, true))
		in.Since, in.IPs = at.since, slices.Clone(in.IPs)
		change(in, single(other))
		mark, head := w.dated(at), "PL2004/ns/"+p.Name
		return []string{mark + head, mark + "PL1002/" + other.String(), below(at.mark+"PL3006/ns/"+p.Name, mark+head)}
	}
}

// below is what must be folded. A suspicion explains nothing that is sure.
func below(name, head string) string {
	if name[0] == '!' && head[0] == '?' {
		return name
	}
	return name[1:] + " under " + head[1:]
}

// dated is the mark of what rests on the ledger as well: etcd has no times.
func (w *world) dated(at spot) string {
	if w.etcd {
		return "?"
	}
	return at.aged()
}

var insideFaults = []fault{
	{"no address inside", "agents", spoilt(func(in *model.Attachment) { in.IPs = nil })},
	{"device down inside", "agents", spoilt(func(in *model.Attachment) { in.Up = false })},
	{"default route by another", "agents", spoilt(func(in *model.Attachment) { in.Routes[0].Gateway = netip.MustParseAddr("10.0.0.1") })},
	{"no default route", "agents", spoilt(func(in *model.Attachment) { in.Routes = without(in.Routes, all4) })},
	{"gateway not on the link", "agents", spoilt(func(in *model.Attachment) { in.Routes = without(in.Routes, single(gateway)) })},
	{"no default route for IPv6", "agents", func(w *world) []string {
		at := w.spot()
		p := w.runningOn(at.node)
		in := w.inside(p)
		in.Since, in.Routes = at.since, without(slices.Clone(in.Routes), all6)
		if len(p.IPs) < 2 {
			return nil // it has no need of one
		}
		return []string{at.mark + "PL3006/ns/" + p.Name}
	}},
	{"another address inside", "agents", differs(func(in *model.Attachment, other netip.Prefix) { in.IPs[0] = other })},
	{"one more address inside", "agents", differs(func(in *model.Attachment, other netip.Prefix) { in.IPs = append(in.IPs, other) })},
}

// bookFaults are differences between the ledger and a sandbox that runs.
var bookFaults = []fault{
	{"another sandbox runs", "agents", func(w *world) []string {
		at := w.spot()
		p := w.runningOn(at.node)
		id := containerOf("another " + p.Name)
		f := w.facts(at.node)
		w.inside(p).Sandbox = id
		f.CNIResults[len(f.CNIResults)-1].Container, f.Containers[len(f.Containers)-1].Sandbox = id, id
		s := w.sandbox(p)
		s.ID, s.Since = id, at.since
		return []string{w.dated(at) + "PL2003/ns/" + p.Name}
	}},
	{"sandbox lives on without its pod", "agents", func(w *world) []string {
		at := w.spot()
		p := *w.runningOn(at.node)
		w.inside(&p).Since = at.since
		w.release(p.IPs...)
		w.forget(&p)
		w.s.Pods = w.s.Pods[:len(w.s.Pods)-1]
		if w.pick("again", 2) == 1 { // there is a new pod of its name elsewhere
			q := w.running()
			w.sandbox(&p).Pod, w.link(&p).Name = q.Name, deviceName("ns", q.Name)
		}
		want := each(p.IPs, w.dated(at)+"PL1002/%s")
		return append(want, "?PL4003/"+at.node+"/"+containerOf(p.Name)) // nothing dates a pod that is not there
	}},
	{"address given back while its sandbox runs", "agents", func(w *world) []string {
		at := w.spot()
		p := w.runningOn(at.node)
		w.inside(p).Since = at.since
		p.Deleted, p.Ready = now-60, false
		w.release(p.IPs...)
		w.forget(p)
		if !w.etcd {
			p.Annotation = model.Emptied
		}
		return each(p.IPs, w.dated(at)+"PL1002/%s")
	}},
}

// shared gives a second pod the address of the first. One route leads to one of them, and
// with etcd each has an entry on the other's device as well.
func (w *world) shared() []string {
	at := spot{node: w.open()}
	if w.agents {
		at = w.spot()
	}
	p := *w.runningOn(at.node)
	w.s.Pods[len(w.s.Pods)-1].Ready = true
	ip := p.IPs[0]
	q := model.Pod{Namespace: "ns", Name: w.fresh("twin"), Node: p.Node, Phase: model.Running, Ready: true, IPs: []netip.Addr{ip}, Written: old}
	q.UID = uidOf(q.Name)
	w.record(&q)
	w.s.Pods = append(w.s.Pods, q)
	if !w.agents {
		return []string{"PL2010/" + ip.String()}
	}
	w.seatTwin(&q, at.since)
	head := w.dated(spot{since: old}) + "PL2010/" + ip.String()
	want := []string{head, below(at.mark+"PL3003/ns/"+q.Name, head)}
	if w.etcd {
		want = append(want, below(at.mark+"PL3004/ns/"+q.Name, head), below(at.mark+"PL3004/ns/"+p.Name, head))
	}
	return want
}

func (w *world) seatTwin(q *model.Pod, since model.Time) {
	w.seat(q)
	f, index := w.facts(q.Node), hostIndex(w.places[q.Name])
	f.Routes = slices.DeleteFunc(f.Routes, func(r model.Route) bool { return r.Link == index })
	f.Paths = slices.DeleteFunc(f.Paths, func(x model.Path) bool { return x.Link == index })
	w.inside(q).Since, w.link(q).Since, w.sandbox(q).Since = since, since, since
	for i := range f.Neighbours {
		if n := &f.Neighbours[i]; n.Link == index {
			n.Since = since
		}
	}
}
