package audit_test

import (
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/model"
)

// someNode adds a node, with what may be odd about one and is normal.
func (w *world) someNode() {
	n := w.node()
	f := w.facts(n.Name)
	if f == nil {
		return
	}
	m := &f.Machines[0]
	switch w.pick("kind", 10) {
	case 1: // nothing is expected of it
		n.OS = "windows"
		delete(w.s.Facts, n.Name)
		w.s.Coverage = slices.DeleteFunc(w.s.Coverage, func(c model.Coverage) bool { return c.Node == n.Name })
	case 2: // Multus calls Calico by its file
		f.CNIConfigs[0].Loaded = false
		f.CNIConfigs = append(f.CNIConfigs, model.CNIConfig{File: "00-multus.conf", Network: "multus-cni-network", Loaded: true, Plugins: []string{"multus"}, Since: old})
		w.habits[n.Name] = "multus"
	case 3:
		m.Uptime, m.Since = 120, now-100
	case 4:
		m.Felix = "not ready"
	case 5:
		m.Felix = ""
	case 6: // packets go past the kernel's own ways
		m.Settings["FELIX_BPFENABLED"] = "true"
		w.habits[n.Name] = "no proxy"
	case 7: // all devices answer for others
		f.Sysctls[0].Value = "1"
		w.habits[n.Name] = "no proxy"
	case 8:
		m.Settings["FELIX_INTERFACEPREFIX"] = "eni, cali"
		w.habits[n.Name] = "prefix"
	case 9: // its runtime keeps no records of libcni
		for i := range w.s.Coverage {
			if c := &w.s.Coverage[i]; c.Node == n.Name && c.Table == model.CNIResults {
				c.State = model.NotThere
			}
		}
		w.habits[n.Name] = "no records"
	}
}

// habitOfNode makes a pod what pods are on such a node.
func (w *world) habitOfNode(p *model.Pod) {
	f := w.facts(p.Node)
	switch w.habits[p.Node] {
	case "multus":
		w.second(p)
	case "no proxy":
		w.sysctl(p, "proxy_arp").Value = "0"
	case "prefix":
		l := w.link(p)
		was := l.Name
		l.Name = "eni" + was[len("cali"):]
		for i := range f.Sysctls {
			if f.Sysctls[i].Device == was {
				f.Sysctls[i].Device = l.Name
			}
		}
		if e := slices.IndexFunc(w.s.Endpoints, func(e model.Endpoint) bool { return e.Pod == p.Name }); e >= 0 {
			w.s.Endpoints[e].Device = l.Name
		}
	case "no records":
		f.CNIResults = nil
	}
}

// second gives a pod a second device, of another network, which may have its default route.
func (w *world) second(p *model.Pod) {
	f, in := w.facts(p.Node), w.inside(p)
	host := 1000 + in.Peer
	net1 := *in
	net1.Device, net1.Index, net1.Peer, net1.MAC, net1.Near = "net1", insideAt+1, host, "0e:00:00:00:00:01", nil
	net1.IPs = []netip.Prefix{netip.MustParsePrefix("172.16.0.9/24")}
	if w.pick("way out", 2) == 1 {
		in.Routes = slices.Clone(in.Routes)
		in.Routes[0] = model.Route{Dst: all4, Gateway: netip.MustParseAddr("172.16.0.1"), Link: net1.Index, Table: 254}
	}
	net1.Routes = in.Routes
	f.Attachments = append(f.Attachments, net1)
	f.Links = append(f.Links, model.Link{Index: host, Name: "veth" + containerOf(p.Name)[:8], Kind: "veth", Up: true, Peer: net1.Index, PeerNS: in.Inode, Since: old})
	f.CNIResults = append(f.CNIResults,
		model.CNIResult{Network: "multus-cni-network", Container: in.Sandbox, Interface: "eth0", IPs: in.IPs, Since: old},
		model.CNIResult{Network: "storage", Container: in.Sandbox, Interface: "net1", IPs: net1.IPs, Since: old})
}

// habit makes a pod one of those that only look wrong.
func (w *world) habit(p *model.Pod) {
	f, in, box := w.facts(p.Node), w.inside(p), w.sandbox(p)
	if in == nil {
		return
	}
	switch w.pick("habit", 16) {
	case 1, 2: // an earlier sandbox is not collected yet
		earlier := model.Sandbox{ID: containerOf("earlier " + p.Name), Namespace: p.Namespace, Pod: p.Name, UID: p.UID, Since: old}
		box.Attempt = 1
		f.Sandboxes = append(f.Sandboxes, earlier)
		f.Containers = append(f.Containers, model.Container{ID: containerOf("main of earlier " + p.Name), Sandbox: earlier.ID, Name: "main", State: "exited", Since: old})
	case 3: // nor is that of an earlier pod of its name
		f.Sandboxes = append(f.Sandboxes, model.Sandbox{ID: containerOf("earlier " + p.Name), Namespace: p.Namespace, Pod: p.Name, UID: uidOf("earlier " + p.Name), Attempt: 3, Since: old})
	case 4: // where the other end is could not be found
		in.PeerNS = 0
		w.link(p).PeerNS = 0
	case 5: // the runtime does not tell whose namespace it is
		for i := range f.Attachments {
			if a := &f.Attachments[i]; a.Inode == in.Inode {
				a.Sandbox = ""
			}
		}
	case 6: // as Calico 2 made it
		in.Near = []model.Neighbour{{IP: gateway, MAC: hostMAC, Link: insideAt, State: "PERMANENT"}}
		w.sysctl(p, "proxy_arp").Value = "0"
	case 7: // it asked for its gateway long ago, and in vain
		in.Near = []model.Neighbour{{IP: gateway, Link: insideAt, State: "FAILED"}}
	case 8: // it is idle
		in.Near = nil
	case 9: // it does not collect its children
		f.Processes = append(f.Processes, model.Process{PID: 3000 + w.places[p.Name], Name: "sh", Why: "zombie", State: "Z", Container: containerOf("main of " + p.Name), PodUID: p.UID, Since: old})
	case 10:
		f.Mounts = append(f.Mounts, model.Mount{Target: "/var/lib/kubelet/pods/" + p.UID + "/volumes/data", Type: "nfs4", Source: "filer:/data", Device: "0:60", Server: "filer", Pods: []string{p.UID}, Since: old})
	case 11: // its address was learned on a device that had it before
		f.Neighbours = append(f.Neighbours, model.Neighbour{IP: p.IPs[0], MAC: "0a:00:00:00:ff:ff", Link: card, State: "STALE", Since: old})
	case 12: // somebody answers for it on purpose
		f.Neighbours = append(f.Neighbours, model.Neighbour{IP: p.IPs[0], Link: card, State: "PERMANENT", Proxy: true, Since: old})
	case 13: // where IPIP is loaded every namespace has a sleeping tunnel
		f.Attachments = append(f.Attachments, model.Attachment{Sandbox: in.Sandbox, NetNS: in.NetNS, Inode: in.Inode, PIDs: 2, Device: "tunl0", Index: 2, Since: old})
	case 14: // its sandbox was not seen to become what it is
		box.Since, in.Since = 0, 0
	}
	if !w.etcd && w.pick("talks", 2) == 1 {
		f.Neighbours = append(f.Neighbours, model.Neighbour{IP: p.IPs[0], MAC: in.MAC, Link: in.Peer, State: "STALE", Since: now - 20})
	}
}

// leftovers adds what nodes have that belongs to nobody and harms nobody.
func (w *world) leftovers() {
	for i := range w.s.Nodes {
		name := w.s.Nodes[i].Name
		f := w.facts(name)
		if f == nil {
			continue
		}
		gone := w.fresh("gone")
		switch w.pick("leftover", 8) {
		case 1, 2: // a sandbox that is dead and not collected, with all its network
			ghost := model.Pod{Namespace: "ns", Name: gone, UID: uidOf(gone), Node: name, IPs: []netip.Addr{w.take(w.blockOf(name, true))}}
			w.seat(&ghost)
			w.sandbox(&ghost).Ready = false
			for i := range f.Attachments {
				if a := &f.Attachments[i]; a.Inode == inodeOf(w.places[gone]) {
					a.PIDs = 0
				}
			}
			f.Containers[len(f.Containers)-1].State = "exited"
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
		}
	}
}

func failedDEL(pod, node, sandbox string) model.Event {
	return model.Event{
		Namespace: "ns", Pod: pod, UID: uidOf(pod), Node: node, Reason: "FailedKillPod", Count: 9, First: now - 900, Last: now - 30,
		Message: `error killing pod: failed to destroy network for sandbox "` + sandbox + `": plugin type="calico" failed (delete): connection refused`,
	}
}
