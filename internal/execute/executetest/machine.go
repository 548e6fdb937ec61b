package executetest

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/model"
)

// machineDetectors are those whose findings only full worlds have, and machineTables what their agents report beside.
var (
	machineDetectors = []*detect.Detector{detect.PL3003, detect.PL3004, detect.PL3005, detect.PL4003, detect.PL4004}
	machineTables    = []model.Table{model.Routes, model.Neighbours, model.Sysctls, model.Mounts}
)

// A kernel is what else of a machine a plan can change. None of it survives a reboot.
type kernel struct {
	stray   map[netip.Addr]int   // host routes that lead to another interface than the pod's
	felix   map[netip.Addr]int64 // when Felix will have set a route that is missing
	entries []entry              // static neighbour entries
	off     map[int]bool         // proxy_arp is 0, by the index of the interface
	fuses   []*fuse
	lies    string // the name that the agent claims Calico uses
}

// An entry is a static neighbour entry.
type entry struct {
	ip   netip.Addr
	link int
	mac  string
}

// A fuse is a FUSE file system.
type fuse struct {
	device, source string
	users          []string // UIDs of pods that have it mounted
	hidden         []string // UIDs of pods that use it in a way that nobody can see, such as in a virtual machine
	layer          string   // an image of a running container that lies on it
	hung           bool
	since          int64 // that it hangs
}

const (
	uplink  = 2 // index of eth0 of the host
	hostMAC = "0a:00:00:00:00:ff"
)

var linkLocal = netip.AddrFrom4([4]byte{169, 254, 1, 1})

// linkAt is the device with an index.
func (n *node) linkAt(index int) *link {
	for _, l := range n.links {
		if l.index == index {
			return l
		}
	}
	return nil
}

// path is the interface that packets for an address of a pod take.
func (n *node) path(w *world, ip netip.Addr, own int) int {
	if l, ok := n.stray[ip]; ok {
		return l
	}
	if at, ok := n.felix[ip]; ok && w.now < at {
		return uplink
	}
	return own
}

// reports adds what full worlds have to the report of a node's agent.
func (n *node) reports(w *world, f *model.NodeState, at func(int64) model.Time) {
	up := at(n.booted)
	f.Links = append(f.Links, model.Link{Index: uplink, Name: "eth0", Up: true, Since: up})
	for i := range f.Paths {
		p := &f.Paths[i]
		if own := p.Link; n.path(w, p.IP, own) != own {
			p.Link = n.path(w, p.IP, own)
		} else {
			f.Routes = append(f.Routes, model.Route{Dst: single(p.IP), Link: own, Table: 254, Protocol: 80, Scope: "link", Since: p.Since})
		}
	}
	for ip, l := range sorted(n.stray) {
		f.Routes = append(f.Routes, model.Route{Dst: single(ip), Link: l, Table: 254, Protocol: 4, Scope: "link", Since: up})
	}
	f.Paths = append(f.Paths, model.Path{IP: linkLocal, Link: uplink, Table: 254, Since: up})
	for _, e := range n.entries {
		f.Neighbours = append(f.Neighbours, model.Neighbour{IP: e.ip, Link: e.link, MAC: e.mac, State: "PERMANENT", Since: up})
	}
	for _, l := range n.links {
		value := "1"
		if n.off[l.index] {
			value = "0"
		}
		f.Sysctls = append(f.Sysctls, model.Sysctl{Device: l.name, Key: "proxy_arp", Value: value, Since: up}, model.Sysctl{Device: l.name, Key: "forwarding", Value: "1", Since: up})
	}
	for i := range f.Attachments {
		if a := &f.Attachments[i]; a.Device != "" {
			a.Routes = []model.Route{{Dst: netip.MustParsePrefix("0.0.0.0/0"), Gateway: linkLocal, Link: a.Index}}
		}
	}
	for _, u := range n.fuses {
		for i, uid := range append([]string{""}, u.users...) {
			m := model.Mount{Target: "/mnt/" + strconv.Itoa(i), Type: "fuse.gluster", Source: u.source, Device: u.device, Since: up}
			if uid != "" {
				m.Pods = []string{uid}
			}
			if u.hung {
				m.Silent, m.Asked, m.Known, m.Layer, m.Waits, m.Since = true, "fuse waiting", len(u.hidden) == 0, u.layer, (w.now-u.since)/second, at(u.since)
			}
			f.Mounts = append(f.Mounts, m)
		}
	}
}

// sorted goes through a map in the order of its keys: a seed must give the same world again.
func sorted[V any](m map[netip.Addr]V) func(func(netip.Addr, V) bool) {
	return func(yield func(netip.Addr, V) bool) {
		keys := make([]netip.Addr, 0, len(m))
		for k := range m {
			keys = append(keys, k)
		}
		slices.SortFunc(keys, netip.Addr.Compare)
		for _, k := range keys {
			if !yield(k, m[k]) {
				return
			}
		}
	}
}

// nodeOwner is whose pods are calico-node.
const nodeOwner = "DaemonSet/calico-node"

func nodePodRef(n *node, generation int) model.Ref {
	return podRef("kube-system", fmt.Sprintf("calico-node-%s-%d", n.name, generation))
}

// daemons gives each node its calico-node.
func (w *world) daemons() {
	for _, n := range w.nodes {
		w.kube.swap(others, nodePodRef(n, 0), nil, &row{value: &pod{Node: n.name, Phase: "Running", Owner: nodeOwner, HostNetwork: true, ready: true, Ready: true, created: w.time()}})
	}
}

// replaced is the DaemonSet, which makes a new calico-node for one that was deleted. One in four never becomes ready.
func (w *world) replaced(r *row) {
	n := w.node(r.value.(*pod).Node)
	bad := w.own.IntN(4) == 0
	var next *row
	made := func(w *world, t *task) step {
		if live := w.kube.get(r.ref); live != nil && live.uid == r.uid {
			w.kube.swap(others, r.ref, live, nil)
		}
		next, _ = w.kube.swap(others, nodePodRef(n, w.fresh()), nil, &row{value: &pod{Node: n.name, Phase: "Running", Owner: nodeOwner, HostNetwork: true, created: w.time()}})
		w.rests(t, 10*time.Second, 2*time.Minute)
		return func(w *world, _ *task) step {
			live := w.kube.get(next.ref)
			if live == nil || live.uid != next.uid || live.value.(*pod).Deleted {
				return nil
			}
			if bad {
				w.log("calico-node on %s does not become ready", n.name)
				return nil
			}
			p := *live.value.(*pod)
			p.ready, p.Ready = true, true
			w.kube.swap(others, live.ref, live, &row{value: &p})
			delete(w.restarts, n.name)
			switch {
			case !n.tunnel.IsValid() || w.holderOf(n.tunnel) == "vxlan-tunnel-addr-"+n.calico:
			case w.tunnelFits(n):
				w.tunnelUp(n)
			default:
				w.tunnelDown(n)
			}
			return nil
		}
	}
	w.rests(w.spawn("DaemonSet "+n.name, nil, made), time.Second, 30*time.Second)
}

// tunnelDown is calico-node without an address for its tunnel.
func (w *world) tunnelDown(n *node) {
	n.tunnel = netip.Addr{}
	if r := w.kube.get(nodeRef(n.name)); r != nil {
		m := *r.value.(*machine)
		m.tunnel = n.tunnel
		w.kube.swap(others, r.ref, r, &row{value: &m})
	}
}

// tunnelFits reports whether tunnelUp finds a free address in the block that it takes.
func (w *world) tunnelFits(n *node) bool {
	cidr := blockCIDR(0, true)
	for _, r := range w.calico.all(model.KindAffinity) {
		if node, c := affinityOf(r.ref.Name); node == n.calico && c.Addr().Is4() {
			cidr = c
		}
	}
	b := w.block(cidr)
	return b != nil && len(b.Unallocated.V) > 0 && sound(b)
}

// churnNode lets one thing happen that happens on nodes.
func (w *world) churnNode() {
	n := w.nodes[w.own.IntN(len(w.nodes))]
	switch w.own.IntN(6) {
	case 0: // a hung file system answers again, or one hangs
		for _, u := range n.fuses {
			u.hung, u.since = !u.hung, w.now
		}
	case 1: // a container is started from an image that lies on it
		for _, u := range n.fuses {
			if w.own.IntN(2) == 0 {
				u.layer = "an image of a running container"
			}
		}
	case 2: // a pod mounts it
		for _, u := range n.fuses {
			if b := n.someBox(w); b != nil && !slices.Contains(u.users, b.uid) {
				u.users = append(u.users, b.uid)
			}
		}
	case 3: // somebody repairs a route by hand
		n.stray = nil
	case 4: // a pod is deleted by force, and its kubelet started anew: it does not know the sandbox
		for _, k := range w.kubelets {
			if k.n == n && k.box != nil && k.box.listed && w.own.IntN(4) == 0 {
				w.orphans(k)
				return
			}
		}
	default: // an agent claims that Calico calls its node as another
		if n.lies == "" && w.own.IntN(4) == 0 {
			n.lies = w.nodes[w.own.IntN(len(w.nodes))].name
		} else {
			n.lies = ""
		}
	}
}

// someBox is a sandbox that runs on the node.
func (n *node) someBox(w *world) *box {
	var up []*box
	for _, b := range n.boxes {
		if b.ready && b.died == 0 {
			up = append(up, b)
		}
	}
	if len(up) == 0 {
		return nil
	}
	return up[w.own.IntN(len(up))]
}

// orphans leaves a sandbox without pod, which no kubelet ends.
func (w *world) orphans(k *kubelet) {
	if r, p := k.live(w); p != nil {
		w.kube.swap(others, r.ref, r, nil)
	}
	w.log("sandbox %s of %s/%s is left", k.box.id, k.ns, k.name)
	w.kubelets = slices.DeleteFunc(w.kubelets, func(o *kubelet) bool { return o == k })
	w.tasks = slices.DeleteFunc(w.tasks, func(t *task) bool { return t == k.task })
}
