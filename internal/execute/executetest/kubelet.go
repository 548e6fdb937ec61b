package executetest

import (
	"net/netip"
	"slices"
)

// A kubelet is the worker of one pod on its node. It looks at what is wanted and at what
// is, does the next thing, and sleeps when there is none.
type kubelet struct {
	n             *node
	ns, name, uid string
	box           *box
	attempt       uint32
	task          *task
}

// starts gives a pod of the API its worker.
func (w *world) starts(r *row, ns, name string) *kubelet {
	k := &kubelet{n: w.node(r.value.(*pod).Node), ns: ns, name: name, uid: r.uid}
	k.task = w.spawn("kubelet "+ns+"/"+name, k.n, k.work)
	w.kubelets = append(w.kubelets, k)
	return k
}

// live is the pod as the API has it, if it still is this one.
func (k *kubelet) live(w *world) (*row, *pod) {
	r := w.kube.get(podRef(k.ns, k.name))
	if r == nil || r.uid != k.uid {
		return nil, nil
	}
	return r, r.value.(*pod)
}

func (k *kubelet) work(w *world, t *task) step {
	r, p := k.live(w)
	switch {
	case p == nil || p.Deleted || p.Phase == "Succeeded":
		if k.box != nil {
			return k.tearDown(k.bury)
		}
		return k.bury
	case k.box != nil && !k.box.ready:
		if p.ready { // it says so first
			q := *p
			q.ready = false
			w.kube.swap(others, r.ref, r, &row{value: &q})
			return k.work
		}
		return k.tearDown(k.work)
	case k.box == nil:
		return k.setUp(w)
	case !p.ready || !slices.Equal(p.ips, k.box.addresses()):
		q := *p
		q.Phase, q.ready, q.ips, q.IPs = "Running", true, k.box.addresses(), texts(k.box.addresses())
		w.kube.swap(others, r.ref, r, &row{value: &q})
		return k.work
	default:
		t.wake = never
		return k.work
	}
}

// addresses are what the runtime told the kubelet when the sandbox was made: it does not
// look again.
func (b *box) addresses() []netip.Addr { return b.told }

func texts(ips []netip.Addr) []string {
	var out []string
	for _, ip := range ips {
		out = append(out, ip.String())
	}
	return out
}

// pokes wakes the worker.
func (k *kubelet) pokes(w *world) { k.task.wake = min(k.task.wake, w.now) }

// setUp makes a sandbox: the runtime shows it only when its ADD is done.
func (k *kubelet) setUp(w *world) step {
	k.n.index++
	b := &box{
		id: w.hexID(), ns: k.ns, pod: k.name, uid: k.uid, attempt: k.attempt, netns: true, pids: 1,
		inode: 4026532000 + uint64(k.n.index), born: w.now, own: k.n.gvisor && w.one(2),
	}
	k.attempt++
	k.n.boxes = append(k.n.boxes, b)
	a := &add{n: k.n, b: b, call: k.n.begins(w, "ADD", b.id), fours: []bool{true}, bare: w.one(8)}
	if w.dual {
		a.fours = append(a.fours, false)
	}
	a.worked = func(_ *world, _ *task) step {
		b.told = slices.Clone(a.ips)
		k.box = b
		return k.work
	}
	a.failed = func(w *world, _ *task) step {
		b.dies(w)
		k.n.forget(b)
		return k.work
	}
	if w.one(20) {
		return k.killed(a, w.pick(10))
	}
	return a.find
}

// killed is an ADD that the runtime kills after some steps. Its DEL may fail, and is then
// never repeated (containerd).
func (k *kubelet) killed(a *add, after int) step {
	var limited func(s step, left int) step
	limited = func(s step, left int) step {
		return func(w *world, t *task) step {
			if left > 0 && !a.b.listed {
				if next := s(w, t); next != nil {
					return limited(next, left-1)
				}
				return nil
			}
			if a.b.listed {
				return s
			}
			w.log("ADD of %s is killed", a.b.id)
			k.n.ends(a.call)
			a.b.dies(w)
			a.b.netns, a.b.ips = false, nil
			if l := k.n.linkOf(a.b); l != nil {
				k.n.unlink(l)
			}
			k.n.forget(a.b)
			if w.one(2) {
				return k.work
			}
			return (&del{n: k.n, cid: a.b.id, ns: k.ns, pod: k.name, then: k.work}).begin
		}
	}
	return limited(a.find, after)
}

// dies notes when a sandbox stopped being alive.
func (b *box) dies(w *world) {
	if b.died == 0 {
		b.died = w.now
		w.dead = append(w.dead, b)
	}
	b.ready, b.pids = false, 0
}

// tearDown ends a sandbox: its processes, its network, itself.
func (k *kubelet) tearDown(then step) step {
	return func(w *world, _ *task) step {
		b := k.box
		b.dies(w)
		d := &del{n: k.n, cid: b.id, ns: k.ns, pod: k.name, b: b}
		d.then = func(_ *world, _ *task) step {
			b.netns, b.ips = false, nil
			k.n.forget(b)
			k.box = nil
			return then
		}
		return d.begin
	}
}

// bury removes the object of a pod that is gone.
func (k *kubelet) bury(w *world, t *task) step {
	r, p := k.live(w)
	if p != nil && !p.Deleted { // it has finished, and stays to be looked at
		t.wake = never
		return k.work
	}
	if p != nil {
		w.kube.swap(others, r.ref, r, nil)
	}
	w.kubelets = slices.DeleteFunc(w.kubelets, func(o *kubelet) bool { return o == k })
	return nil
}

// creates puts a pod into the API, bound to a node.
func (w *world) creates(name, node, owner string) *row {
	const ns = "shop"
	ref := podRef(ns, name)
	p := &pod{Node: node, Phase: "Pending", Owner: owner, created: w.time()}
	r, ok := w.kube.swap(others, ref, nil, &row{value: p})
	if !ok {
		return nil
	}
	w.born[ref] = w.now
	w.starts(r, ns, name)
	return r
}

// deletes marks a pod as ending. Its kubelet does the rest.
func (w *world) deletes(by who, r *row) {
	p := *r.value.(*pod)
	p.Deleted, p.ready, p.deleted = true, false, w.time()
	w.kube.swap(by, r.ref, r, &row{value: &p})
	if p.Owner == nodeOwner {
		w.replaced(w.kube.get(r.ref))
		return
	}
	for _, k := range w.kubelets {
		if k.uid == r.uid {
			k.pokes(w)
		}
	}
}

func (w *world) worker(uid string) *kubelet {
	for _, k := range w.kubelets {
		if k.uid == uid {
			return k
		}
	}
	return nil
}

// settles lets only one worker go on, until it sleeps: to build a world quickly.
func (w *world) settles(k *kubelet) {
	for range 200 {
		if k.task.next == nil || k.task.wake == never {
			return
		}
		w.now += 50
		k.task.wake = 0
		w.does(k.task)
	}
}
