package audit_test

import (
	"net/netip"
	"slices"

	"pgregory.net/rapid"

	"plumbline.dev/plumbline/internal/model"
)

// running adds a pod that runs and is recorded everywhere, with the odd habits that
// such a pod may have.
func (w *world) running() *model.Pod {
	p := w.runningOn(w.open())
	w.habit(p)
	return p
}

// runningOn adds one that has nothing odd about it.
func (w *world) runningOn(node string) *model.Pod {
	from := node
	if rapid.IntRange(0, 9).Draw(w.t, "borrows") == 0 {
		from = w.s.Nodes[w.pick("lender", len(w.s.Nodes))].Name
	}
	ips := []netip.Addr{w.take(w.blockOf(from, true))}
	if w.dual && w.pick("single", 4) > 0 {
		ips = append(ips, w.take(w.blockOf(from, false)))
	}
	name := w.fresh("pod")
	p := model.Pod{
		Namespace: "ns", Name: name, UID: uidOf(name), Node: node, Phase: model.Running, Ready: rapid.IntRange(0, 4).Draw(w.t, "ready") > 0,
		IPs: ips, Created: old, Started: old, Written: old, Images: []string{"reg/app:1"},
	}
	w.record(&p)
	for _, ip := range ips {
		w.hold(ip, model.Attribute{Handle: "k8s-pod-network." + containerOf(name), Namespace: "ns", Pod: name, Node: node}, true)
	}
	w.s.Pods = append(w.s.Pods, p)
	w.seat(&p)
	return &w.s.Pods[len(w.s.Pods)-1]
}

// record writes Calico's word about a pod, where this datastore has it.
func (w *world) record(p *model.Pod) {
	if !w.etcd {
		p.Annotation, p.Annotated, p.ContainerID = model.Written, p.IPs, containerOf(p.Name)
		return
	}
	w.s.Endpoints = append(w.s.Endpoints, model.Endpoint{
		Namespace: p.Namespace, Name: p.Node + "-k8s-" + p.Name, Node: p.Node, Orchestrator: "k8s", Pod: p.Name, ContainerID: containerOf(p.Name), IPs: slices.Clone(p.IPs),
		Interface: "eth0", Device: deviceName(p.Namespace, p.Name),
	})
}

// somePod adds a pod in any state that a healthy cluster has.
func (w *world) somePod() {
	switch w.pick("state", 11) {
	case 0: // finished, its address long given back
		p := w.running()
		p.Phase, p.Ready = model.Succeeded, false
		w.tearDown(p)
	case 1: // being deleted, its network gone, held by a finalizer
		p := w.running()
		p.Deleted, p.Ready = now-60, false
		if !w.etcd { // in etcd mode nothing on the pod tells; the kubelet removes it in seconds
			w.tearDown(p)
		}
	case 2: // its sandbox is being created: an allocation, and nothing else yet
		p := w.running()
		p.Phase, p.Ready = model.Pending, false
		w.inTheMaking(p)
		p.IPs = nil
		w.forget(p)
	case 3: // waits for a node
		w.s.Pods = append(w.s.Pods, model.Pod{Namespace: "ns", Name: w.fresh("pod"), Phase: model.Pending})
	case 4: // on the host's network
		name := w.fresh("pod")
		p := model.Pod{Namespace: "ns", Name: name, UID: uidOf(name), Node: w.open(), Phase: model.Running, Ready: true, HostNetwork: true, IPs: []netip.Addr{netip.MustParseAddr("192.168.0.1")}}
		w.s.Pods = append(w.s.Pods, p)
		w.onHost(&p)
	case 5: // of a manifest on the node
		w.static(w.running())
	case 6: // its DEL runs: the books are done, its device is not
		p := w.running()
		p.Deleted, p.Ready = now-5, false
		w.calls("DEL", p, containerOf(p.Name), now-[]model.Time{2, 400}[w.pick("long", 2)])
		w.release(p.IPs...)
		w.forget(p)
		if !w.etcd {
			p.Annotation, p.ContainerID = model.Emptied, containerOf(p.Name)
		}
	case 7: // its sandbox is being replaced: the record is of the one before
		p := w.running()
		p.Ready = false
		w.replaced(p)
	default:
		w.running()
	}
}

func (w *world) tearDown(p *model.Pod) {
	w.release(p.IPs...)
	w.forget(p)
	w.stop(p)
	if !w.etcd {
		p.Annotation, p.ContainerID = model.Emptied, containerOf(p.Name)
	}
}

func (w *world) forget(p *model.Pod) {
	p.Annotation, p.Annotated, p.ContainerID = model.Absent, nil, ""
	w.s.Endpoints = slices.DeleteFunc(w.s.Endpoints, func(e model.Endpoint) bool { return e.Pod == p.Name })
}
