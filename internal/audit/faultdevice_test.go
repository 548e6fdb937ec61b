package audit_test

import (
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/model"
)

// A spot is a node of its own where a fault is made, since when the fault is there, and
// the mark of what comes of it in a kernel: only where Felix has looked, and long ago,
// is it sure.
type spot struct {
	node  string
	since model.Time
	mark  string
}

func (w *world) spot() spot {
	at := spot{w.node().Name, old, "?"}
	m := &w.facts(at.node).Machines[0]
	switch w.pick("spot", 9) {
	case 1:
		at.since = now - 60
	case 2: // nobody was watching
		at.since = 0
	case 3:
		m.Uptime = 120
	case 4: // it starts
		m.Felix, m.Uptime = "not ready", 120
	case 5: // nobody could ask
		m.Felix = ""
	case 6:
		m.Since = now - 60
	case 7: // a teardown of another hangs there for long
		w.facts(at.node).Processes = append(w.facts(at.node).Processes, model.Process{PID: 99, Name: "calico", Why: "cni", State: "S", Command: "DEL", CNI: containerOf("another"), Since: old})
		at.mark = "!"
	default:
		at.mark = "!"
	}
	return at
}

// withMultus is a spot, sometimes on a node where Multus calls Calico by its file.
func (w *world) withMultus() spot {
	at := w.spot()
	if w.pick("multus", 4) == 1 {
		w.multus(at.node)
	}
	return at
}

// victim is a new pod that a fault may have. What else may be odd about it changes nothing.
func (w *world) victim(node string) *model.Pod {
	p := w.runningOn(node)
	switch w.pick("victim", 8) {
	case 1:
		w.restarted(p)
	case 2:
		w.reborn(p)
	case 3:
		w.unnamed(p)
	case 4:
		w.sleepingTunnel(p)
	case 5:
		w.static(p)
	case 6:
		w.copied(p)
	}
	return p
}

// aged is the mark of what needs no Felix.
func (at spot) aged() string {
	if at.since == old {
		return "!"
	}
	return "?"
}

// unused adds a device that belongs to nobody.
func (w *world) unused(at spot) (*model.Link, string) {
	f, name := w.facts(at.node), deviceName("ns", w.fresh("gone"))
	w.seats[at.node]++
	number := w.seats[at.node]
	f.Links = append(f.Links, model.Link{Index: hostIndex(number), Name: name, Kind: "veth", MAC: hostMAC, Up: true, Peer: insideAt, PeerNS: inodeOf(number), Since: at.since})
	return &f.Links[len(f.Links)-1], "PL3001/" + at.node + "/" + name
}

// cutOff breaks the way from a node to a new pod of it.
func cutOff(cut func(w *world, p *model.Pod, since model.Time)) func(w *world) []string {
	return func(w *world) []string {
		at := w.withMultus()
		p := w.victim(at.node)
		cut(w, p, at.since)
		return []string{at.mark + "PL3002/ns/" + p.Name}
	}
}

// astray sends packets to a pod's addresses out by the card.
func (w *world) astray(p *model.Pod) {
	f := w.facts(p.Node)
	f.Routes = slices.DeleteFunc(f.Routes, func(r model.Route) bool { return r.Link == hostIndex(w.places[p.Name]) })
	for _, ip := range p.IPs {
		*w.path(p, ip) = model.Path{IP: ip, Link: card, Gateway: router, Table: 254, Since: old}
	}
}

var deviceFaults = []fault{
	{"unused device", "agents", func(w *world) []string {
		at := w.spot()
		l, name := w.unused(at)
		f, ip := w.facts(at.node), w.take(w.blockOf(at.node, true))
		f.Attachments = append(f.Attachments, model.Attachment{
			NetNS: "/run/netns/cni-gone", Inode: l.PeerNS, Pinned: true, Device: "eth0", Index: insideAt, Peer: l.Index, PeerNS: hostNS, Up: true,
			IPs: []netip.Prefix{single(ip)}, Since: old,
		})
		if w.pick("held", 2) == 0 {
			return []string{at.mark + name}
		}
		gone := w.fresh("gone") // nobody lives there: its address is leaked as well
		w.hold(ip, model.Attribute{Handle: network + "." + containerOf(gone), Namespace: "ns", Pod: gone, Node: at.node}, true)
		return []string{at.mark + name, "PL1001/" + ip.String()}
	}},
	{"unused device with both ends on the host", "agents", func(w *world) []string {
		at := w.spot()
		l, name := w.unused(at)
		l.PeerNS = hostNS
		return []string{at.mark + name}
	}},
	{"unused device whose other end is not found", "agents", func(w *world) []string {
		at := w.spot()
		l, name := w.unused(at)
		l.PeerNS = 0
		return []string{"?" + name}
	}},
	{"device down", "agents", cutOff(func(w *world, p *model.Pod, since model.Time) {
		l := w.link(p)
		l.Up, l.Since = false, since
		w.astray(p)
	})},
	{"device gone", "agents", cutOff(func(w *world, p *model.Pod, since model.Time) {
		f := w.facts(p.Node)
		w.astray(p)
		f.Links = slices.DeleteFunc(f.Links, func(l model.Link) bool { return l.Index == hostIndex(w.places[p.Name]) })
		w.inside(p).Since = since
	})},
	{"device of another namespace", "agents", cutOff(func(w *world, p *model.Pod, since model.Time) {
		l := w.link(p)
		l.PeerNS, l.Since = 4026533999, since
	})},
	{"other end elsewhere", "agents", cutOff(func(w *world, p *model.Pod, since model.Time) {
		in := w.inside(p)
		in.PeerNS, in.Since = 4026533999, since
	})},
	{"no device inside", "agents", cutOff(func(w *world, p *model.Pod, since model.Time) {
		in := *w.inside(p)
		w.unplug(p)
		f := w.facts(p.Node)
		f.Attachments = append(f.Attachments, model.Attachment{Sandbox: in.Sandbox, NetNS: in.NetNS, Inode: in.Inode, PIDs: 2, Pinned: true, Since: since})
	})},
}
