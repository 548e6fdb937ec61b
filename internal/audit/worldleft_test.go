package audit_test

import (
	"net/netip"

	"plumbline.dev/plumbline/internal/model"
)

// leftovers adds what nodes have that belongs to nobody and harms nobody.
func (w *world) leftovers() {
	for i := range w.s.Nodes {
		name := w.s.Nodes[i].Name
		f := w.facts(name)
		if f == nil {
			continue
		}
		gone := w.fresh("gone")
		switch w.pick("leftover", 10) {
		case 1: // a sandbox that is dead and not collected, with all its network
			ghost := w.ghost(name, gone)
			w.sandbox(ghost).Ready = false
			w.empty(ghost, w.pick("lives on", 2))
			f.Containers[len(f.Containers)-1].State = "exited"
		case 2: // one in the making, of a pod that is newer than our list
			ghost := w.ghost(name, gone)
			w.unnamed(ghost)
			w.vanish(ghost)
			w.empty(ghost, 0)
			w.calls("ADD", ghost, containerOf(gone), now-2)
		case 3: // one that somebody made by hand
			f.Sandboxes = append(f.Sandboxes, model.Sandbox{ID: containerOf(gone), Namespace: "default", Pod: "busybox", UID: "hdishd83djaidwnduwk28bcsb", Ready: true, Since: old})
		case 4: // a teardown that went well in the end
			w.s.Events = append(w.s.Events, failedDEL(gone, name, containerOf(gone)))
		case 5: // a daemon that waits for its disk
			f.Processes = append(f.Processes, model.Process{PID: 77, Name: "rsync", Why: "unkillable", State: "D", Waits: "io_schedule", Since: old})
		case 6: // a configuration that nobody reads
			f.CNIConfigs = append(f.CNIConfigs, model.CNIConfig{File: "20-old.conflist", Network: "old", Plugins: []string{"calico"}, NodeName: "old-" + name, Since: old})
		case 7: // a bridge of another's
			f.Links = append(f.Links,
				model.Link{Index: 900, Name: "docker0", Kind: "bridge", Up: true, Since: old},
				model.Link{Index: 901, Name: "veth1234567", Kind: "veth", Peer: 7, Since: old})
		case 8: // its machine is a copy of another node's, with what the runtime had there
			for i := range w.s.Pods {
				if p := &w.s.Pods[i]; p.Node != name && w.sandbox(p) != nil {
					f.Sandboxes = append(f.Sandboxes, deadCopy(w.sandbox(p)))
				}
			}
		case 9: // a container that was started past the kubelet, with Calico's network
			ghost := w.ghost(name, gone)
			w.unnamed(ghost)
			w.vanish(ghost)
			w.hold(ghost.IPs[0], model.Attribute{Handle: network + "." + containerOf(gone), Node: name}, true)
		}
	}
}

func failedDEL(pod, node, sandbox string) model.Event {
	return model.Event{
		Namespace: "ns", Pod: pod, UID: uidOf(pod), Node: node, Reason: "FailedKillPod", Count: 9, First: now - 900, Last: now - 30,
		Message: `error killing pod: failed to destroy network for sandbox "` + sandbox + `": plugin type="calico" failed (delete): connection refused`,
	}
}

// ghost puts a pod on a node that is in no list of Kubernetes'.
func (w *world) ghost(node, name string) *model.Pod {
	p := model.Pod{Namespace: "ns", Name: name, UID: uidOf(name), Node: node, IPs: []netip.Addr{w.take(w.blockOf(node, true))}}
	w.seat(&p)
	return &p
}

// copied: another node is a copy of the pod's, with what the runtime had there.
func (w *world) copied(p *model.Pod) {
	if f := w.facts(w.s.Nodes[0].Name); f != nil && w.s.Nodes[0].Name != p.Node {
		f.Sandboxes = append(f.Sandboxes, deadCopy(w.sandbox(p)))
	}
}

func deadCopy(s *model.Sandbox) model.Sandbox {
	dead := *s
	dead.Ready, dead.Inode, dead.Attempt = false, 0, s.Attempt+5
	return dead
}

// empty leaves so many processes in a pod's namespace.
func (w *world) empty(p *model.Pod, pids int) {
	f := w.facts(p.Node)
	for i := range f.Attachments {
		if a := &f.Attachments[i]; a.Inode == inodeOf(w.places[p.Name]) {
			a.PIDs = pids
		}
	}
}
