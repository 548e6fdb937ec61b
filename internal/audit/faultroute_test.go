package audit_test

import (
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/model"
)

// misled breaks the way to the last address of a new pod, which is its IPv6 one if it has
// two. A pod that asks for its gateway meanwhile is not answered, which is part of it.
func misled(mislead func(w *world, p *model.Pod, way *model.Path)) func(w *world) []string {
	return func(w *world) []string {
		at := w.withMultus()
		p := w.victim(at.node)
		ip := p.IPs[len(p.IPs)-1]
		way := w.path(p, ip)
		*way = model.Path{IP: ip, Table: 254, Since: at.since}
		mislead(w, p, way)
		name := "PL3003/ns/" + p.Name
		want := []string{at.mark + name}
		if w.pick("asks", 2) == 1 {
			in := w.inside(p)
			in.Neighbours = []model.Neighbour{{IP: gateway, Link: insideAt, State: "FAILED"}}
			if ip.Is4() && in.Routes[0].Gateway == gateway {
				want = append(want, "PL3005/ns/"+p.Name+" under "+name)
			}
		}
		return want
	}
}

func (w *world) noRoute(p *model.Pod, ip netip.Addr) {
	f := w.facts(p.Node)
	f.Routes = slices.DeleteFunc(f.Routes, func(r model.Route) bool { return r.Dst == single(ip) })
}

// entry puts a neighbour entry for a new pod's address on its node.
func entry(make func(w *world, p *model.Pod, n *model.Neighbour)) func(w *world) []string {
	return func(w *world) []string {
		at := w.withMultus()
		p := w.victim(at.node)
		f := w.facts(at.node)
		n := model.Neighbour{IP: p.IPs[0], Link: hostIndex(w.places[p.Name]), MAC: w.inside(p).MAC, Since: at.since}
		make(w, p, &n)
		f.Neighbours = slices.DeleteFunc(f.Neighbours, func(o model.Neighbour) bool { return o.IP == n.IP && o.Link == n.Link })
		f.Neighbours = append(f.Neighbours, n)
		return []string{at.mark + "PL3004/ns/" + p.Name}
	}
}

// unanswered keeps a new pod from its gateway.
func unanswered(keep func(w *world, p *model.Pod, since model.Time)) func(w *world) []string {
	return func(w *world) []string {
		at := w.spot()
		p := w.victim(at.node)
		keep(w, p, at.since)
		return []string{at.mark + "PL3005/ns/" + p.Name}
	}
}

func switchOff(key string) func(*world, *model.Pod, model.Time) {
	return func(w *world, p *model.Pod, since model.Time) {
		s := w.sysctl(p, key)
		s.Value, s.Since = "0", since
	}
}

var routeFaults = []fault{
	{"route missing", "agents", misled(func(w *world, p *model.Pod, way *model.Path) {
		w.noRoute(p, way.IP)
		way.Link, way.Gateway = card, router
	})},
	{"route in a blackhole", "agents", misled(func(w *world, p *model.Pod, way *model.Path) {
		w.noRoute(p, way.IP)
		way.Error = "invalid argument"
	})},
	{"route to another pod", "agents", misled(func(w *world, p *model.Pod, way *model.Path) {
		ip := way.IP
		w.noRoute(p, ip)
		node, since, place := p.Node, way.Since, p.Name
		q := w.runningOn(node)
		f := w.facts(node)
		f.Routes = append(f.Routes, model.Route{Dst: single(ip), Link: hostIndex(w.places[q.Name]), Table: 254, Since: since})
		// The other pod's rows may have moved the tables.
		*w.path(&model.Pod{Name: place, Node: node}, ip) = model.Path{IP: ip, Link: hostIndex(w.places[q.Name]), Table: 254, Since: since}
	})},
	{"route not taken", "agents", misled(func(_ *world, _ *model.Pod, way *model.Path) { way.Link, way.Gateway, way.Table = card, router, 100 })},
	{"route by way of another", "agents", misled(func(w *world, p *model.Pod, way *model.Path) {
		way.Link, way.Gateway = hostIndex(w.places[p.Name]), router
	})},
	{"route refused", "agents", misled(func(w *world, p *model.Pod, way *model.Path) {
		way.Link, way.Error = hostIndex(w.places[p.Name]), "permission denied"
	})},
	{"route of another type", "agents", misled(func(w *world, p *model.Pod, way *model.Path) {
		way.Link, way.Type = hostIndex(w.places[p.Name]), "multicast"
	})},
	{"route to the node itself", "agents", misled(func(_ *world, _ *model.Pod, way *model.Path) { way.Link, way.Type, way.Table = 1, "local", 255 })},
	{"neighbour on another device", "agents", entry(func(w *world, p *model.Pod, n *model.Neighbour) {
		n.Link, n.State, n.MAC = hostIndex(w.places[w.runningOn(p.Node).Name]), "PERMANENT", "0a:00:00:00:ff:ff"
	})},
	{"neighbour with another MAC", "agents", entry(func(_ *world, _ *model.Pod, n *model.Neighbour) { n.State, n.MAC = "PERMANENT", "0a:00:00:00:ff:ff" })},
	{"neighbour answers for a pod", "agents", entry(func(_ *world, _ *model.Pod, n *model.Neighbour) { n.State, n.MAC = "REACHABLE", "0a:00:00:00:ff:ff" })},
	{"pod does not answer", "agents", entry(func(_ *world, p *model.Pod, n *model.Neighbour) {
		n.State, n.MAC = "FAILED", ""
		p.Ready = false // of one that is ready it says nothing
	})},
	{"host does not answer for others", "agents", unanswered(switchOff("proxy_arp"))},
	{"host does not forward", "agents", unanswered(switchOff("forwarding"))},
	{"static gateway of a device that is gone", "agents", unanswered(func(w *world, p *model.Pod, since model.Time) {
		w.inside(p).Neighbours = []model.Neighbour{{IP: gateway, MAC: "ea:88:97:5f:06:d9", Link: insideAt, State: "PERMANENT", Since: since}}
		if since == 0 { // the age of a namespace is that of its row
			w.inside(p).Since = 0
		}
	})},
	{"node without a default route", "agents", func(w *world) []string {
		at := w.spot()
		w.shut[at.node] = true
		f := w.facts(at.node)
		f.Routes = slices.DeleteFunc(f.Routes, func(r model.Route) bool { return r.Dst == all4 })
		mark := "?" // nothing dates a route that is not there
		if w.pick("dated", 2) == 1 {
			f.Paths, mark = append(f.Paths, model.Path{IP: gateway, Error: "network is unreachable", Since: at.since}), at.mark
		}
		a, b := w.runningOn(at.node).Name, w.runningOn(at.node).Name
		return []string{mark + "PL3005/ns/" + a, mark + "PL3005/ns/" + b}
	}},
}
