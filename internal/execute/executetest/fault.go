package executetest

import (
	"slices"

	"plumbline.dev/plumbline/internal/calico/object"
	"plumbline.dev/plumbline/internal/lossless"
	"plumbline.dev/plumbline/internal/model"
)

// A fault breaks something as it breaks in real clusters. It tells whether it found
// something to break.
type fault struct {
	name string
	only string // a datastore, "dual" or "full"; empty for any
	make func(w *world) bool
}

var faults = slices.Concat(ipamFaults, podFaults, structureFaults, machineFaults)

func (f *fault) fits(w *world) bool {
	return f.only == "" || f.only == "full" && w.full || f.only == w.datastore() || f.only == "dual" && w.dual
}

// breaks injects some faults, of those that are asked for.
func (w *world) breaks(n int, only []string) {
	var can []*fault
	for i := range faults {
		if f := &faults[i]; (len(only) == 0 || slices.Contains(only, f.name)) && f.fits(w) {
			can = append(can, f)
		}
	}
	for tries := 0; n > 0 && len(can) > 0 && tries < 20; tries++ {
		if f := can[w.pick(len(can))]; f.make(w) {
			w.log("fault: %s", f.name)
			n--
		}
	}
}

var ipamFaults = []fault{
	{"leaked", "", func(w *world) bool { return w.leak(w.hexID(), "gone-"+w.hexID()[:4], w.open(), w.dual && w.one(2)) }},
	{"leaked-old", "", func(w *world) bool {
		k := w.runs()
		return k != nil && w.leak(w.hexID(), k.name, k.n, false)
	}},
	{"leaked-twice", "dual", func(w *world) bool { return w.leak(w.hexID(), "gone-"+w.hexID()[:4], w.open(), true) }},
	{"orphan-handle", "", func(w *world) bool {
		id := handleOf(w.hexID())
		_, ok := w.calico.swap(others, handleRef(id), nil, &row{value: newHandle(id, w.calico.all(model.KindBlock)[0].ref.Name, 1, w.etcd)})
		return ok
	}},
	{"overcount", "", func(w *world) bool { return w.recounts(1 + w.pick(2)) }},
	{"undercount", "dual", func(w *world) bool { return w.recounts(-1) }},
	{"missing-handle", "", func(w *world) bool {
		k := w.runs()
		if k == nil {
			return false
		}
		r := w.calico.get(handleRef(handleOf(k.box.id)))
		return r != nil && w.delete(r)
	}},
	{"unrecorded", "", func(w *world) bool {
		k := w.runs()
		return k != nil && w.releaseInUse(k)
	}},
	{"released", "", func(w *world) bool {
		k := w.runs()
		return k != nil && w.releaseInUse(k) && w.unshow(k)
	}},
	{"wrong-node", "", func(w *world) bool { return w.renames("node") }},
	{"wrong-pod", "", func(w *world) bool { return w.renames("pod") }},
	{"frozen-add", "", func(w *world) bool { return w.freeze(w.open(), false) }},
	{"frozen-count", "", func(w *world) bool { return w.freeze(w.open(), true) }},
	{"stale-nodename", "", func(w *world) bool {
		n := w.open()
		// A node is renamed only while its agent runs, and publishes the name: without, somebody
		// would have to change the node's files by hand, on a node that nobody can see.
		if n.calico != n.name || n.silent {
			return false
		}
		n.calico = w.open().name
		n.called = append(n.called, n.calico)
		return n.calico != n.name && w.freeze(n, w.one(4))
	}},
}

// runs gives a pod that runs and has what it should have.
func (w *world) runs() *kubelet {
	for range 10 {
		if k := w.someBox(); k != nil && len(k.box.ips) > 0 && k.task.wake == never && w.holderOf(k.box.ips[0]) == handleOf(k.box.id) {
			return k
		}
	}
	return nil
}

func (w *world) delete(r *row) bool {
	_, ok := w.store(r).swap(others, r.ref, r, nil)
	return ok
}

func (w *world) store(r *row) *Store {
	if r.ref.Kind == model.KindPod || r.ref.Kind == model.KindNode {
		return w.kube
	}
	return w.calico
}

// leak allocates addresses for a container that nobody has any more.
func (w *world) leak(cid, pod string, n *node, twice bool) bool {
	fours := []bool{true}
	if twice {
		fours = append(fours, false)
	}
	handle := handleOf(cid)
	h := newHandle(handle, "", 0, w.etcd)
	h.Block.V = map[string]int{}
	for _, four := range fours {
		r := w.roomy(n, four)
		if r == nil {
			return false
		}
		next, _ := assign(r.value.(*object.Block), -1, handle, map[string]string{"namespace": "shop", "pod": pod, "node": n.calico, "timestamp": "then"})
		w.calico.swap(others, r.ref, r, &row{value: next})
		h.Block.V[r.ref.Name] = 1
	}
	w.calico.swap(others, handleRef(handle), nil, &row{value: h})
	return true
}

// roomy gives a block of a node that has a free ordinal.
func (w *world) roomy(n *node, four bool) *row {
	for _, r := range w.calico.all(model.KindBlock) {
		b := r.value.(*object.Block)
		if b.Affinity.V == "host:"+n.calico && (r.ref.Name[0] != 'f') == four && len(b.Unallocated.V) > 0 {
			return r
		}
	}
	return nil
}

// recounts makes the handle of a running pod count wrongly.
func (w *world) recounts(by int) bool {
	k := w.runs()
	if k == nil {
		return false
	}
	r := w.calico.get(handleRef(handleOf(k.box.id)))
	if r == nil {
		return false
	}
	next := counted(r.value.(*object.Handle), blockOf(k.box.ips[0]).String(), by)
	if next == nil {
		return false
	}
	_, ok := w.calico.swap(others, r.ref, r, &row{value: next})
	return ok
}

// releaseInUse releases the addresses of a running pod, as a bug of Calico or a restore does.
func (w *world) releaseInUse(k *kubelet) bool {
	for _, ip := range k.box.ips {
		r := w.calico.get(blockRef(blockOf(ip)))
		if r == nil || w.holderOf(ip) != handleOf(k.box.id) {
			return false
		}
		w.calico.swap(others, r.ref, r, &row{value: free(r.value.(*object.Block), false, ordinalOf(ip))})
	}
	if r := w.calico.get(handleRef(handleOf(k.box.id))); r != nil {
		w.delete(r)
	}
	return true
}

// renames makes IPAM name another node or pod for the addresses of a running one. The
// collector has seen it so from the first.
func (w *world) renames(what string) bool {
	k := w.runs()
	if k == nil || len(w.nodes) < 2 {
		return false
	}
	other := w.open().name
	if what == "pod" {
		other = "another"
	}
	for _, ip := range k.box.ips {
		r := w.calico.get(blockRef(blockOf(ip)))
		b := cloneBlock(r.value.(*object.Block))
		at := holder(b, ordinalOf(ip))
		if at == nil || at.Secondary.V[what] == other {
			return false
		}
		changed := *at
		changed.Secondary = lossless.Some(map[string]string{"namespace": k.ns, "pod": k.name, "node": k.n.calico, "timestamp": "then", what: other})
		*at = changed
		w.calico.swap(others, r.ref, r, &row{value: b})
	}
	w.collector.restarts(w)
	return true
}

// freeze stops an ADD after it has counted, or after it was given an address; its pod is
// then deleted by force. It goes on much later, or never.
func (w *world) freeze(n *node, early bool) bool {
	r := w.creates("froze-"+w.hexID()[:6], n.name, "")
	k := w.kubelets[len(w.kubelets)-1]
	for range 60 {
		w.does(k.task)
		if k.task.next == nil {
			return false
		}
		k.task.wake = w.now
		for _, c := range n.calls {
			if b := n.box(c.cid); b == nil || b.uid != r.uid || c.command != "ADD" {
				continue
			}
			waits := 0
			for _, m := range c.counts {
				waits += m
			}
			if early && waits > 0 || !early && len(c.got) > 0 {
				k.task.wake = w.now + 3600*second
				if now := w.kube.get(r.ref); now != nil && !w.one(4) {
					w.delete(now)
				}
				return true
			}
		}
	}
	return false
}
