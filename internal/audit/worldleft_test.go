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
		switch w.pick("leftover", 9) {
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
			w.calls("ADD", ghost, containerOf(gone))
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
			if of := w.facts(w.s.Nodes[0].Name); of != f {
				for _, s := range of.Sandboxes {
					s.Ready, s.Inode, s.Attempt = false, 0, s.Attempt+5
					f.Sandboxes = append(f.Sandboxes, s)
				}
				for _, c := range of.Containers {
					c.State = "exited"
					f.Containers = append(f.Containers, c)
				}
			}
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

// empty leaves so many processes in a pod's namespace.
func (w *world) empty(p *model.Pod, pids int) {
	f := w.facts(p.Node)
	for i := range f.Attachments {
		if a := &f.Attachments[i]; a.Inode == inodeOf(w.places[p.Name]) {
			a.PIDs = pids
		}
	}
}
