package executetest

import (
	"slices"
	"strconv"
	"time"

	"plumbline.dev/plumbline/internal/calico/object"
	"plumbline.dev/plumbline/internal/model"
)

// churn lets one thing happen that happens in clusters.
func (w *world) churn() {
	switch w.pick(21) {
	case 0, 1, 2, 3, 4:
		w.launch()
	case 5, 6, 7, 8:
		if r := w.somePod(); r != nil && w.room() {
			w.deletes(others, r)
		}
	case 9, 10, 11: // a sandbox dies, and its pod gets another
		if k := w.someBox(); k != nil {
			k.box.dies(w)
			k.pokes(w)
		}
	case 12: // a job ends
		if r := w.somePod(); r != nil {
			p := *r.value.(*pod)
			if p.Phase == "Running" && !p.Deleted {
				p.Phase, p.ready = "Succeeded", false
				w.kube.swap(others, r.ref, r, &row{value: &p})
				if k := w.worker(r.uid); k != nil {
					k.pokes(w)
				}
			}
		}
	case 13:
		w.reboots(w.nodes[w.pick(len(w.nodes))])
	case 14: // an agent falls silent, or speaks again
		n := w.nodes[w.pick(len(w.nodes))]
		n.silent, n.half = !n.silent, w.one(2)
		n.publishes()
		w.log("%s: no answer %v, incomplete %v", n.name, n.silent, n.half)
	case 15:
		n := w.nodes[w.pick(len(w.nodes))]
		if n.cut = !n.cut; n.cut {
			n.silent = true
		}
		w.log("%s: cut off %v, no answer %v", n.name, n.cut, n.silent)
	case 16:
		w.collector.restarts(w)
	case 17:
		w.now += w.between(10*time.Second, 10*time.Minute) // nothing happens for a while
	case 18:
		if len(w.nodes) > 2 && w.one(4) {
			w.removes(w.nodes[w.pick(len(w.nodes))])
		}
	case 19: // a machine is off for good, as a person says; or it is back, and the person takes that back
		n := w.nodes[w.pick(len(w.nodes))]
		switch {
		case n.taint:
			w.comesBack(n)
		case w.machines() > 2 && w.one(3):
			w.fails(n)
		}
	default:
		w.again()
	}
}

// room tells that there are pods enough to lose one.
func (w *world) room() bool { return len(w.kubelets) > 3 }

// launch makes a pod, of a new name or, as a StatefulSet does it, of an old one.
func (w *world) launch() {
	if len(w.kubelets) > 14 {
		return
	}
	if w.one(2) {
		w.again()
		return
	}
	w.creates("web-"+strconv.Itoa(w.fresh()), w.open().name, "ReplicaSet/web")
}

// again makes a pod of a StatefulSet whose last one is gone.
func (w *world) again() {
	name := "db-" + strconv.Itoa(w.pick(4))
	if w.kube.get(podRef("shop", name)) == nil {
		w.creates(name, w.open().name, "StatefulSet/db")
	}
}

// open is a node that pods can be bound to.
func (w *world) open() *node {
	for {
		n := w.nodes[w.pick(len(w.nodes))]
		if w.kube.get(nodeRef(n.name)) != nil {
			return n
		}
	}
}

func (w *world) somePod() *row {
	all := w.kube.all(model.KindPod)
	if w.full {
		all = slices.DeleteFunc(slices.Clone(all), func(r *row) bool { return r.value.(*pod).Owner == nodeOwner })
	}
	if len(all) == 0 {
		return nil
	}
	return all[w.pick(len(all))]
}

// someBox gives a pod whose sandbox runs, if the first that is looked at does.
func (w *world) someBox() *kubelet {
	if len(w.kubelets) == 0 {
		return nil
	}
	if k := w.kubelets[w.pick(len(w.kubelets))]; k.box != nil && k.box.ready && !k.n.cut {
		return k
	}
	return nil
}

// reboots: namespaces and calls are gone, the runtime's list of sandboxes is not.
func (w *world) reboots(n *node) {
	w.log("%s reboots", n.name)
	n.boot, n.booted, n.calls, n.links, n.cut, n.called = n.boot+1, w.now, nil, nil, false, nil
	n.kernel = kernel{lies: n.lies}
	n.publishes()
	for _, b := range n.boxes {
		b.dies(w)
		b.netns, b.ips, b.inode = false, nil, 0
	}
	for _, b := range append([]*box(nil), n.boxes...) {
		if !b.listed {
			n.forget(b) // nobody will ever DEL it
		}
	}
	for _, k := range w.kubelets {
		if k.n == n {
			k.task.next, k.task.wake = k.work, w.now+w.between(time.Second, time.Minute)
			if k.box != nil && !k.box.listed {
				k.box = nil
			}
		}
	}
}

// removes deletes a Node, and then its pods, though the machine may run on.
func (w *world) removes(n *node) {
	r := w.kube.get(nodeRef(n.name))
	if r == nil || w.machines() < 3 {
		return
	}
	w.log("Node %s is removed", n.name)
	w.kube.swap(others, r.ref, r, nil)
	n.silent, n.cut = true, true
	for _, p := range append([]*row(nil), w.kube.all(model.KindPod)...) {
		if p.value.(*pod).Node == n.name {
			w.kube.swap(others, p.ref, p, nil)
		}
	}
}

func (w *world) machines() int { return len(w.kube.all(model.KindNode)) }

// tunnelUp is calico-node's allocator: handle, block, Node, device; nothing bounds the time
// in between.
func (w *world) tunnelUp(n *node) {
	handle := "vxlan-tunnel-addr-" + n.calico
	cidr := blockCIDR(0, true)
	for _, r := range w.calico.all(model.KindAffinity) {
		if node, c := affinityOf(r.ref.Name); node == n.calico && c.Addr().Is4() {
			cidr = c
		}
	}
	w.calico.swap(others, handleRef(handle), w.calico.get(handleRef(handle)), &row{value: newHandle(handle, cidr.String(), 1, w.etcd)})
	r := w.calico.get(blockRef(cidr))
	next, ord := assign(r.value.(*object.Block), -1, handle, map[string]string{"node": n.calico, "type": "vxlanTunnelAddress"})
	w.calico.swap(others, r.ref, r, &row{value: next})
	n.tunnel = model.Offset(cidr, ord)
	if r := w.kube.get(nodeRef(n.name)); r != nil {
		m := *r.value.(*machine)
		m.tunnel = n.tunnel
		w.kube.swap(others, r.ref, r, &row{value: &m})
	}
}

// fails: a machine loses its power for good, and a person declares it out of service. In one world of
// three it is only cut off and goes on, with an effect of the taint that Kubernetes ignores.
func (w *world) fails(n *node) {
	if w.seed%3 == 0 {
		if w.taints(n, false, model.OutOfServiceTaint+":PreferNoSchedule") {
			n.silent, n.cut, n.taint = true, true, true
			w.log("%s is cut off and runs", n.name)
		}
		return
	}
	if w.taints(n, false, model.OutOfServiceTaint+":NoExecute") {
		w.reboots(n)
		n.silent, n.cut, n.taint = true, true, true
		w.log("%s is off and out of service", n.name)
	}
}

// comesBack: it was repaired after all. In one world of two the taint stays.
func (w *world) comesBack(n *node) {
	var left []string
	if w.seed%2 == 0 {
		left = append(left, model.OutOfServiceTaint+[]string{":NoExecute", ":NoSchedule", ":PreferNoSchedule", ":"}[w.seed/2%4])
	}
	if w.taints(n, true, left...) {
		w.reboots(n)
		n.silent, n.taint = w.one(2) || left != nil, false
		n.publishes()
		w.log("%s is back, no answer %v, taints %q", n.name, n.silent, left)
	}
}

// taints sets the taints of a Node, and whether its kubelet reports.
func (w *world) taints(n *node, ready bool, taints ...string) bool {
	r := w.kube.get(nodeRef(n.name))
	if r == nil {
		return false
	}
	m := *r.value.(*machine)
	m.Taints, m.Ready, m.BootID = taints, ready, n.bootID()
	m.Silent, m.Changed = !m.Ready, w.time()
	if m.Silent { // nobody declares a node down that fell silent just now
		m.Changed = m.Changed.Add(-10 * time.Minute)
	}
	w.kube.swap(others, r.ref, r, &row{value: &m})
	return true
}
