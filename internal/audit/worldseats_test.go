package audit_test

import (
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/model"
)

// facts gives what a node says of itself; nil if nobody asks it.
func (w *world) facts(node string) *model.NodeState { return w.s.NodeState[node] }

// seat puts a pod on its node.
func (w *world) seat(p *model.Pod) {
	f := w.facts(p.Node)
	if f == nil {
		return
	}
	w.seats[p.Node]++
	w.places[p.Name] = w.seats[p.Node]
	seat(f, p, w.places[p.Name], w.etcd)
	w.habitOfNode(p)
}

// What a node has of a pod. All are nil where nobody asks.

func (w *world) link(p *model.Pod) *model.Link {
	return first(w, p, func(f *model.NodeState) []model.Link { return f.Links }, func(l *model.Link) bool { return l.Index == hostIndex(w.places[p.Name]) })
}

func (w *world) inside(p *model.Pod) *model.Attachment {
	return first(w, p, func(f *model.NodeState) []model.Attachment { return f.Attachments }, func(a *model.Attachment) bool {
		return a.Inode == inodeOf(w.places[p.Name]) && a.Index == insideAt
	})
}

func (w *world) sandbox(p *model.Pod) *model.Sandbox {
	return first(w, p, func(f *model.NodeState) []model.Sandbox { return f.Sandboxes }, func(s *model.Sandbox) bool { return s.ID == containerOf(p.Name) })
}

func (w *world) path(p *model.Pod, ip netip.Addr) *model.Path {
	return first(w, p, func(f *model.NodeState) []model.Path { return f.Paths }, func(x *model.Path) bool { return x.IP == ip })
}

func (w *world) sysctl(p *model.Pod, key string) *model.Sysctl {
	return first(w, p, func(f *model.NodeState) []model.Sysctl { return f.Sysctls }, func(s *model.Sysctl) bool { return s.Key == key && s.Device == w.link(p).Name })
}

func first[T any](w *world, p *model.Pod, rows func(*model.NodeState) []T, is func(*T) bool) *T {
	f := w.facts(p.Node)
	if f == nil {
		return nil
	}
	of := rows(f)
	for i := range of {
		if is(&of[i]) {
			return &of[i]
		}
	}
	return nil
}

// unplug takes a pod's network away as a DEL does.
func (w *world) unplug(p *model.Pod) {
	f, l := w.facts(p.Node), w.link(p)
	if l == nil {
		return
	}
	number := w.places[p.Name]
	index, inode, device, id := hostIndex(number), inodeOf(number), l.Name, containerOf(p.Name)
	f.Links = slices.DeleteFunc(f.Links, func(l model.Link) bool { return l.Index == index || l.PeerNS == inode })
	f.Routes = slices.DeleteFunc(f.Routes, func(r model.Route) bool { return r.Link == index })
	f.Paths = slices.DeleteFunc(f.Paths, func(x model.Path) bool { return x.Link == index })
	f.Neighbours = slices.DeleteFunc(f.Neighbours, func(n model.Neighbour) bool { return n.Link == index })
	f.Sysctls = slices.DeleteFunc(f.Sysctls, func(s model.Sysctl) bool { return s.Device == device })
	f.Attachments = slices.DeleteFunc(f.Attachments, func(a model.Attachment) bool { return a.Inode == inode })
	f.CNIResults = slices.DeleteFunc(f.CNIResults, func(r model.CNIResult) bool { return r.Container == id })
}

// stop ends a pod's sandbox. The kubelet collects it later.
func (w *world) stop(p *model.Pod) {
	s := w.sandbox(p)
	if s == nil {
		return
	}
	w.unplug(p)
	s.Ready, s.NetNS, s.Inode, s.PID = false, "", 0, 0
	f := w.facts(p.Node)
	for i := range f.Containers {
		if c := &f.Containers[i]; c.Sandbox == s.ID {
			c.State, c.PID = "exited", 0
		}
	}
	f.Processes = slices.DeleteFunc(f.Processes, func(pr model.Process) bool { return pr.PodUID == p.UID })
	if w.pick("collected", 2) == 1 {
		w.vanish(p)
	}
}

// vanish takes a pod's sandbox from the runtime's lists.
func (w *world) vanish(p *model.Pod) {
	f, id := w.facts(p.Node), containerOf(p.Name)
	if f == nil {
		return
	}
	f.Sandboxes = slices.DeleteFunc(f.Sandboxes, func(s model.Sandbox) bool { return s.ID == id })
	f.Containers = slices.DeleteFunc(f.Containers, func(c model.Container) bool { return c.Sandbox == id })
	f.CNIResults = slices.DeleteFunc(f.CNIResults, func(r model.CNIResult) bool { return r.Container == id })
}

// inTheMaking makes a pod one whose ADD runs: no list has its sandbox yet.
func (w *world) inTheMaking(p *model.Pod) {
	f, in := w.facts(p.Node), w.inside(p)
	if in == nil {
		return
	}
	f.Processes = slices.DeleteFunc(f.Processes, func(pr model.Process) bool { return pr.PodUID == p.UID })
	w.calls("ADD", p, containerOf(p.Name), now-2)
	empty := model.Attachment{Sandbox: in.Sandbox, NetNS: in.NetNS, Inode: in.Inode, PIDs: 1, Pinned: true, Since: now - 2}
	switch w.pick("made", 3) {
	case 0: // a namespace, and no more
		empty.Sandbox = ""
		w.unplug(p)
		w.vanish(p)
		f.Attachments = append(f.Attachments, empty)
	case 1: // its device is there
		in.Sandbox, in.PIDs = "", 0
		w.vanish(p)
	default: // docker says ready of a sandbox before its network is made
		w.unplug(p)
		f.Attachments = append(f.Attachments, empty)
	}
}

// replaced gives a pod a new sandbox, as docker shows it while its ADD runs.
func (w *world) replaced(p *model.Pod) {
	s := w.sandbox(p)
	if s == nil {
		return
	}
	w.unplug(p)
	next := containerOf("next " + p.Name)
	f := w.facts(p.Node)
	f.Containers = slices.DeleteFunc(f.Containers, func(c model.Container) bool { return c.Sandbox == s.ID })
	s.ID, s.Attempt, s.Since = next, s.Attempt+1, now-2
	f.Attachments = append(f.Attachments, model.Attachment{Sandbox: next, NetNS: s.NetNS, Inode: s.Inode, PIDs: 1, Pinned: true, Since: now - 2})
	w.calls("ADD", p, next, now-2)
}

// calls lets a CNI call run.
func (w *world) calls(command string, p *model.Pod, sandbox string, since model.Time) {
	if f := w.facts(p.Node); f != nil {
		f.Processes = append(f.Processes, model.Process{PID: 500 + w.places[p.Name], Name: "calico", Why: "cni", State: "S", Command: command, CNI: sandbox, Since: since})
	}
}

// onHost is what a node says of a pod that has no network of its own.
func (w *world) onHost(p *model.Pod) {
	f := w.facts(p.Node)
	if f == nil {
		return
	}
	id := containerOf(p.Name)
	f.Sandboxes = append(f.Sandboxes, model.Sandbox{ID: id, Namespace: p.Namespace, Pod: p.Name, UID: p.UID, Ready: true, HostNetwork: true, Inode: hostNS, Created: old, Since: old})
	f.Containers = append(f.Containers, model.Container{ID: containerOf("main of " + p.Name), Sandbox: id, Name: "main", State: "running", Since: old})
}

// lose makes a node's tables ones that were asked for and not seen; no table means all.
func (w *world) lose(node string, ts ...model.Table) {
	f := w.facts(node)
	if f == nil {
		return
	}
	if len(ts) == 0 {
		ts = model.FactTables()
		delete(w.s.NodeState, node)
	}
	for i := range w.s.Coverage {
		if c := &w.s.Coverage[i]; c.Node == node && slices.Contains(ts, c.Table) {
			c.State, c.Reason = model.Lost, "no answer within 10s"
		}
	}
	if slices.Contains(ts, model.Sandboxes) {
		f.Sandboxes, f.Containers = nil, nil
	}
	w.lost[node] = ts
	w.shut[node] = true
}
