package executetest

import (
	"net/netip"
	"slices"
	"strconv"

	"plumbline.dev/plumbline/internal/calico/object"
)

// machineFaults are those of full worlds.
var machineFaults = []fault{
	{"stray-route", "full", func(w *world) bool {
		k, l := w.besideRunning()
		if k == nil {
			return false
		}
		if k.n.stray == nil {
			k.n.stray = map[netip.Addr]int{}
		}
		k.n.stray[k.box.ips[0]] = l
		return true
	}},
	{"static-neighbour", "full", func(w *world) bool {
		k, l := w.besideRunning()
		if k == nil {
			return false
		}
		e := entry{k.box.ips[0], k.box.link, "0a:00:00:00:00:99"}
		if w.own.IntN(2) == 0 {
			e.link = l
		}
		k.n.entries = append(k.n.entries, e)
		return true
	}},
	{"proxy-arp-off", "full", func(w *world) bool {
		k := w.runs()
		if k == nil || k.box.link == 0 {
			return false
		}
		if k.n.off == nil {
			k.n.off = map[int]bool{}
		}
		k.n.off[k.box.link] = true
		return true
	}},
	{"orphan-sandbox", "full", func(w *world) bool {
		k := w.runs()
		if k == nil || k.box.own {
			return false
		}
		w.orphans(k)
		return true
	}},
	{"hung-fuse", "full", func(w *world) bool {
		n := w.open()
		u := &fuse{device: "0:" + strconv.Itoa(60+w.fresh()), source: "gluster" + strconv.Itoa(w.fresh()), hung: true, since: w.now}
		for range w.own.IntN(3) {
			if b := n.someBox(w); b != nil && !slices.Contains(u.users, b.uid) {
				u.users = append(u.users, b.uid)
			}
		}
		switch w.own.IntN(5) {
		case 0:
			u.layer = "an image of a running container"
		case 1:
			if b := n.someBox(w); b != nil && !slices.Contains(u.users, b.uid) {
				u.hidden = append(u.hidden, b.uid)
			}
		}
		n.fuses = append(n.fuses, u)
		return true
	}},
	{"tunnels-taken", "full", func(w *world) bool {
		some := false
		for _, n := range w.nodes {
			some = w.takesTunnel(n) || some
		}
		return some
	}},
}

// besideRunning is a pod that runs, and another interface of its node.
func (w *world) besideRunning() (*kubelet, int) {
	k := w.runs()
	if k == nil || k.box.own {
		return nil, 0
	}
	n := k.n
	i := slices.IndexFunc(n.links, func(l *link) bool { return l.index != k.box.link })
	if i < 0 || slices.ContainsFunc(n.entries, func(e entry) bool { return e.ip == k.box.ips[0] }) {
		return nil, 0
	}
	return k, n.links[i].index
}

// takesTunnel makes IPAM name a pod that is gone for the tunnel address of a node, as after a restore.
func (w *world) takesTunnel(n *node) bool {
	if !n.tunnel.IsValid() || n.calico != n.name || w.kube.get(nodeRef(n.name)) == nil {
		return false
	}
	r := w.calico.get(blockRef(blockOf(n.tunnel)))
	if r == nil || w.holderOf(n.tunnel) != "vxlan-tunnel-addr-"+n.calico {
		return false
	}
	handle := handleOf(w.hexID())
	next, _ := assign(free(r.value.(*object.Block), true, ordinalOf(n.tunnel)), ordinalOf(n.tunnel), handle,
		map[string]string{"namespace": "shop", "pod": "gone-" + w.hexID()[:4], "node": n.calico, "timestamp": "then"})
	w.calico.swap(others, r.ref, r, &row{value: next})
	if h := w.calico.get(handleRef("vxlan-tunnel-addr-" + n.calico)); h != nil {
		w.delete(h)
	}
	_, ok := w.calico.swap(others, handleRef(handle), nil, &row{value: newHandle(handle, r.ref.Name, 1, w.etcd)})
	return ok
}
