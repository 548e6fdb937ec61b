package audit_test

import (
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/model"
)

// habit makes a pod one of those that only look wrong.
func (w *world) habit(p *model.Pod) {
	f, in, box := w.facts(p.Node), w.inside(p), w.sandbox(p)
	if in == nil {
		return
	}
	switch w.pick("habit", 19) {
	case 1, 2:
		w.restarted(p)
	case 3:
		w.reborn(p)
	case 4: // where the other end is could not be found
		in.PeerNS = 0
		w.link(p).PeerNS = 0
	case 5:
		w.unnamed(p)
	case 6: // as Calico 2 made it
		in.Neighbours = []model.Neighbour{{IP: gateway, MAC: hostMAC, Link: insideAt, State: "PERMANENT"}}
		w.sysctl(p, "proxy_arp").Value = "0"
	case 7: // it asked for its gateway long ago, and in vain
		in.Neighbours = []model.Neighbour{{IP: gateway, Link: insideAt, State: "FAILED"}}
	case 8: // it is idle
		in.Neighbours = nil
	case 9: // it does not collect its children
		f.Processes = append(f.Processes, model.Process{PID: 3000 + w.places[p.Name], Name: "sh", Why: "zombie", State: "Z", Container: containerOf("main of " + p.Name), PodUID: p.UID, Since: old})
	case 10:
		f.Mounts = append(f.Mounts, model.Mount{Target: "/var/lib/kubelet/pods/" + p.UID + "/volumes/data", Type: "nfs4", Source: "filer:/data", Device: "0:60", Server: "filer", Pods: []string{p.UID}, Since: old})
	case 11: // its address was learned on a device that had it before
		f.Neighbours = append(f.Neighbours, model.Neighbour{IP: p.IPs[0], MAC: "0a:00:00:00:ff:ff", Link: card, State: "STALE", Since: old})
	case 12: // somebody answers for it on purpose
		f.Neighbours = append(f.Neighbours, model.Neighbour{IP: p.IPs[0], Link: card, State: "PERMANENT", Proxy: true, Since: old})
	case 13:
		w.sleepingTunnel(p)
	case 14: // its sandbox was not seen to become what it is
		box.Since, in.Since = 0, 0
	case 15: // its node asked for it once, and in vain; it is ready now
		f.Neighbours = slices.DeleteFunc(f.Neighbours, func(n model.Neighbour) bool { return n.Link == in.Peer })
		f.Neighbours = append(f.Neighbours, model.Neighbour{IP: p.IPs[0], Link: in.Peer, State: "FAILED", Since: old})
		p.Ready = true
	case 16: // gVisor takes address and routes for a network of its own
		box.Handler, in.IPs, in.Routes = "runsc", nil, nil
	case 17: // it runs docker, with whatever addresses
		f.Attachments = append(f.Attachments, model.Attachment{
			Sandbox: in.Sandbox, NetNS: in.NetNS, Inode: in.Inode, PIDs: 2, Device: "docker0", Index: insideAt + 2, Up: true,
			IPs: []netip.Prefix{netip.PrefixFrom(w.take(w.blockOf(p.Node, true)), 28)}, Since: old,
		})
	case 18: // the DEL of an earlier sandbox failed once, or has just begun to, or has succeeded since
		f.FailedDels = append(f.FailedDels,
			model.FailedDel{Sandbox: box.ID, Tries: 1, Error: "Unauthorized", Since: old},
			model.FailedDel{Sandbox: containerOf("short " + p.Name), Tries: 3, Span: 40, Ago: 20, Error: "Unauthorized", Since: old},
			model.FailedDel{Sandbox: containerOf("removed " + p.Name), Tries: 9, Span: 900, Ago: 20, Error: "Unauthorized", Since: old})
	}
	if !w.etcd && w.pick("talks", 2) == 1 {
		f.Neighbours = append(f.Neighbours, model.Neighbour{IP: p.IPs[0], MAC: in.MAC, Link: in.Peer, State: "STALE", Since: now - 20})
	}
}

// restarted: an earlier sandbox is not collected yet.
func (w *world) restarted(p *model.Pod) {
	f, earlier := w.facts(p.Node), containerOf("earlier "+p.Name)
	w.sandbox(p).Attempt = 1
	f.Sandboxes = append(f.Sandboxes, model.Sandbox{ID: earlier, Namespace: p.Namespace, Pod: p.Name, UID: p.UID, Since: old})
	f.Containers = append(f.Containers, model.Container{ID: containerOf("main of earlier " + p.Name), Sandbox: earlier, Name: "main", State: "exited", Since: old})
}

// reborn: the sandbox of an earlier pod of its name is not collected yet.
func (w *world) reborn(p *model.Pod) {
	f := w.facts(p.Node)
	f.Sandboxes = append(f.Sandboxes, model.Sandbox{ID: containerOf("earlier " + p.Name), Namespace: p.Namespace, Pod: p.Name, UID: uidOf("earlier " + p.Name), Attempt: 3, Since: old})
}

// unnamed: the runtime does not tell whose namespace it is.
func (w *world) unnamed(p *model.Pod) {
	f := w.facts(p.Node)
	for i := range f.Attachments {
		if a := &f.Attachments[i]; a.Inode == inodeOf(w.places[p.Name]) {
			a.Sandbox = ""
		}
	}
}

// sleepingTunnel: where IPIP is loaded every namespace has one.
func (w *world) sleepingTunnel(p *model.Pod) {
	f, in := w.facts(p.Node), w.inside(p)
	f.Attachments = append(f.Attachments, model.Attachment{Sandbox: in.Sandbox, NetNS: in.NetNS, Inode: in.Inode, PIDs: 2, Device: "tunl0", Index: 2, Since: old})
}

// static: the sandbox carries the hash of the manifest, and not the UID of the mirror.
func (w *world) static(p *model.Pod) {
	p.Static = hashOf(p.Name)
	if s := w.sandbox(p); s != nil {
		s.UID = p.Static
	}
}
