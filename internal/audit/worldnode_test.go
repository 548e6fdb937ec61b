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
		delete(w.s.NodeState, n.Name)
		w.s.Coverage = slices.DeleteFunc(w.s.Coverage, func(c model.Coverage) bool { return c.Node == n.Name })
	case 2:
		w.multus(n.Name)
	case 3:
		m.Uptime, m.Since = 120, now-100
	case 4: // it starts
		m.Felix, m.Uptime = "not ready", 120
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

// multus lets a node load Multus, in one of its two shapes, which calls Calico by its file.
func (w *world) multus(node string) {
	f, shape := w.facts(node), []string{"multus", "multus-shim"}[w.pick("shape", 2)]
	f.CNIConfigs[0].Loaded = false
	f.CNIConfigs = append(f.CNIConfigs, model.CNIConfig{File: "00-multus.conf", Network: "multus-cni-network", Loaded: true, Plugins: []string{shape}, Since: old})
	w.habits[node] = "multus"
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
	net1.Device, net1.Index, net1.Peer, net1.MAC, net1.Neighbours = "net1", insideAt+1, host, "0e:00:00:00:00:01", nil
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
