package executetest

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"plumbline.dev/plumbline/internal/calico/object"
	"plumbline.dev/plumbline/internal/lossless"
	"plumbline.dev/plumbline/internal/model"
)

var podFaults = []fault{
	{"force-deleted", "", func(w *world) bool { // and the kubelet does not get to ending it; nor, maybe, the agent to say so
		k := w.runs()
		if k == nil {
			return false
		}
		r := w.kube.get(podRef(k.ns, k.name))
		if r == nil {
			return false
		}
		w.kube.swap(others, r.ref, r, nil)
		k.task.wake = w.now + w.between(20*time.Minute, 3*time.Hour)
		k.n.silent = k.n.silent || w.one(2)
		return true
	}},
	{"unshown", "", func(w *world) bool {
		k := w.runs()
		return k != nil && w.unshow(k)
	}},
	{"other-sandbox", "", func(w *world) bool {
		k := w.runs()
		return k != nil && w.shows(k, w.hexID())
	}},
	{"endpoint-left", "etcd", func(w *world) bool {
		if len(w.kubelets) == 0 { // all were orphaned
			return false
		}
		b := &box{id: w.hexID(), ns: "shop", pod: "left-" + w.hexID()[:4]}
		n := w.open()
		ref := endpointRef(n.calico, b.ns, b.pod)
		_, ok := w.calico.swap(others, ref, nil, &row{value: endpointFor(n.calico, b, w.kubelets[0].addresses())})
		return ok
	}},
	{"device-left", "", func(w *world) bool {
		name := "db-" + strconv.Itoa(w.pick(4))
		n := w.open()
		if w.kube.get(podRef("shop", name)) != nil || slices.ContainsFunc(n.links, func(l *link) bool { return l.name == deviceName("shop", name) }) {
			return false
		}
		n.index++
		n.links = append(n.links, &link{index: 10 + n.index, name: deviceName("shop", name), inode: hostNS, since: w.now})
		return true
	}},
	{"shared", "", func(w *world) bool { return w.share() }},
}

func (k *kubelet) addresses() []netip.Addr {
	if k.box == nil {
		return nil
	}
	return k.box.ips
}

// unshow takes the record by which Felix goes from a running pod, as a late DEL did it.
func (w *world) unshow(k *kubelet) bool {
	if w.etcd {
		r := w.calico.get(endpointRef(k.n.calico, k.ns, k.name))
		return r != nil && w.delete(r)
	}
	r, p := k.live(w)
	if p == nil || p.PodIP == "" {
		return false
	}
	q := *p
	q.PodIP, q.PodIPs = "", ""
	_, ok := w.kube.swap(others, r.ref, r, &row{value: &q})
	return ok
}

// shows makes the record of a pod name another sandbox.
func (w *world) shows(k *kubelet, container string) bool {
	if w.etcd {
		r := w.calico.get(endpointRef(k.n.calico, k.ns, k.name))
		if r == nil {
			return false
		}
		_, ok := w.calico.swap(others, r.ref, r, &row{value: r.value.(*endpoint).with(container)})
		return ok
	}
	r, p := k.live(w)
	if p == nil || p.PodIP == "" {
		return false
	}
	q := *p
	q.ContainerID = container
	_, ok := w.kube.swap(others, r.ref, r, &row{value: &q})
	return ok
}

// share gives a pod the addresses of another: IPAM names one of them, or nobody.
func (w *world) share() bool {
	a, b := w.runs(), w.runs()
	if a == nil || b == nil || a == b || a.uid == b.uid {
		return false
	}
	old := b.box.ips
	ips := slices.Clone(a.box.ips)
	b.n.plug(w, b.box, ips)
	b.box.told = ips
	for i := range b.n.cache {
		if b.n.cache[i].cid == b.box.id {
			b.n.cache[i].ips = ips
		}
	}
	for _, ip := range old { // its own go back
		if r := w.calico.get(blockRef(blockOf(ip))); r != nil && w.holderOf(ip) == handleOf(b.box.id) {
			w.calico.swap(others, r.ref, r, &row{value: free(r.value.(*object.Block), false, ordinalOf(ip))})
		}
	}
	if r := w.calico.get(handleRef(handleOf(b.box.id))); r != nil {
		w.delete(r)
	}
	for _, ip := range ips {
		w.shared[ip] = true
	}
	if w.etcd {
		ref := endpointRef(b.n.calico, b.ns, b.name)
		w.calico.swap(others, ref, w.calico.get(ref), &row{value: endpointFor(b.n.calico, b.box, ips)})
	}
	if r, p := b.live(w); p != nil {
		q := *p
		q.ips, q.IPs = ips, texts(ips)
		if !w.etcd {
			q.PodIP, q.PodIPs = single(ips[0]).String(), joined(ips)
		}
		w.kube.swap(others, r.ref, r, &row{value: &q})
	}
	switch w.pick(3) {
	case 0:
		w.releaseInUse(a) // IPAM names nobody
	case 1:
		w.handsOver(a, b)
	}
	return true
}

// handsOver makes IPAM name the second of two that share.
func (w *world) handsOver(from, to *kubelet) {
	h := newHandle(handleOf(to.box.id), "", 0, w.etcd)
	h.Block.V = map[string]int{}
	for _, ip := range from.box.ips {
		r := w.calico.get(blockRef(blockOf(ip)))
		next, _ := assign(free(r.value.(*object.Block), true, ordinalOf(ip)), ordinalOf(ip), handleOf(to.box.id),
			map[string]string{"namespace": to.ns, "pod": to.name, "node": to.n.calico, "timestamp": "then"})
		w.calico.swap(others, r.ref, r, &row{value: next})
		h.Block.V[r.ref.Name]++
	}
	if r := w.calico.get(handleRef(handleOf(from.box.id))); r != nil {
		w.delete(r)
	}
	ref := handleRef(handleOf(to.box.id))
	w.calico.swap(others, ref, w.calico.get(ref), &row{value: h})
}

var structureFaults = []fault{
	{"bad-index", "", func(w *world) bool {
		return w.mangles(func(b *object.Block) bool {
			for o, p := range b.Allocations.V {
				if p != nil {
					b.Allocations.V[o] = new(int32(7))
					return true
				}
			}
			return false
		})
	}},
	{"not-listed", "", func(w *world) bool {
		return w.mangles(func(b *object.Block) bool {
			if len(b.Unallocated.V) == 0 {
				return false
			}
			b.Unallocated.V = b.Unallocated.V[1:]
			return true
		})
	}},
	{"offered", "", func(w *world) bool {
		return w.mangles(func(b *object.Block) bool {
			for o, p := range b.Allocations.V {
				if p != nil {
					b.Unallocated.V = append(b.Unallocated.V, int32(o))
					return true
				}
			}
			return false
		})
	}},
	{"affinity-gone", "", func(w *world) bool {
		r := w.some(model.KindAffinity)
		return r != nil && w.delete(r)
	}},
	{"affinity-pending", "", func(w *world) bool {
		r := w.some(model.KindAffinity)
		if r == nil {
			return false
		}
		a := *r.value.(*object.Affinity)
		a.State = lossless.Some("pending")
		if w.one(2) {
			a.Extra = lossless.Extra{"futureField": json.RawMessage(`true`)}
		}
		_, ok := w.calico.swap(others, r.ref, r, &row{value: &a, labels: r.labels})
		return ok
	}},
	{"affinity-twice", "", func(w *world) bool {
		r := w.some(model.KindAffinity)
		if r == nil {
			return false
		}
		_, cidr := affinityOf(r.ref.Name)
		n := w.open()
		_, ok := w.calico.swap(others, affinityRef(n.calico, cidr), nil, &row{value: newAffinity(w, n.calico, cidr, "confirmed"), labels: affinityLabels(w, n.calico, cidr.Addr().Is4())})
		return ok
	}},
	{"affinity-bare", "", func(w *world) bool {
		n, cidr := w.open(), blockCIDR(31, true)
		_, ok := w.calico.swap(others, affinityRef(n.calico, cidr), nil, &row{value: newAffinity(w, n.calico, cidr, "confirmed"), labels: affinityLabels(w, n.calico, true)})
		return ok
	}},
	{"unlabelled", "kdd", func(w *world) bool {
		r := w.some(model.KindAffinity)
		if r == nil {
			return false
		}
		_, ok := w.calico.swap(others, r.ref, r, &row{value: r.value})
		return ok
	}},
}

// some gives an object of IPAM; nil if there is none.
func (w *world) some(k model.Kind) *row {
	all := w.calico.all(k)
	if len(all) == 0 {
		return nil
	}
	return all[w.pick(len(all))]
}

// mangles breaks the structure of a block.
func (w *world) mangles(how func(*object.Block) bool) bool {
	r := w.some(model.KindBlock)
	b := cloneBlock(r.value.(*object.Block))
	if !sound(b) || !how(b) {
		return false
	}
	_, ok := w.calico.swap(others, r.ref, r, &row{value: b})
	return ok
}
