package executetest

import (
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/model"
)

// nodeTables are what the simulated nodes have; of the others nobody asks them.
var nodeTables = []model.Table{
	model.Links, model.Paths, model.Attachments, model.Sandboxes, model.Containers, model.CNIConfigs,
	model.CNIResults, model.Processes, model.Machines,
}

func (w *world) snapshotNodes(s *model.Snapshot) {
	s.NodeState = map[string]*model.NodeState{}
	tables := nodeTables
	if w.full {
		tables = slices.Concat(nodeTables, machineTables)
	}
	for _, r := range w.kube.all(model.KindNode) {
		n := w.node(r.ref.Name)
		for _, t := range tables {
			c := model.Coverage{Table: t, Node: n.name, State: model.Complete}
			switch {
			case n.silent:
				c.State, c.Reason = model.Lost, errNoAnswer.Error()
			case n.half && t == model.Attachments:
				c.State, c.Reason = model.Partial, "permission denied"
			}
			s.Coverage = append(s.Coverage, c)
		}
		if !n.silent {
			s.NodeState[n.name] = w.nodeState(n)
		}
	}
}

// nodeState is the report of a node's agent, which has run as long as the node.
func (w *world) nodeState(n *node) *model.NodeState {
	at := func(t int64) model.Time { return begin + model.Time(t/second) }
	up := at(n.booted)
	f := &model.NodeState{
		Machines: []model.Machine{{
			BootID: n.bootID(), Uptime: (w.now - n.booted) / second, NodeName: n.name, CalicoName: n.calico, NetNS: hostNS, Felix: "ready", Plugin: "v3.31.0",
			Settings: map[string]string{"FELIX_BPFENABLED": "false"}, Since: up,
		}},
		CNIConfigs: []model.CNIConfig{{
			File: "10-calico.conflist", Network: network, Loaded: true, Plugins: []string{"calico", "portmap"}, NodeName: n.calico, IPAM: "calico-ipam", Since: up,
		}},
		Processes: []model.Process{{PID: 100, Name: "calico-node", Why: "felix", State: "S", Since: up}},
	}
	if n.tunnel.IsValid() {
		l := n.overlay()
		l.Since = up
		f.Links = append(f.Links, l)
	}
	for _, c := range n.calls {
		p := c.process()
		p.Since = at(c.since)
		f.Processes = append(f.Processes, p)
	}
	for _, r := range n.cache {
		f.CNIResults = append(f.CNIResults, r.result())
	}
	routed := map[netip.Addr]int{}
	for _, b := range n.boxes {
		if b.listed {
			s := b.sandbox()
			s.Since = at(b.born)
			f.Sandboxes = append(f.Sandboxes, s)
		}
		if a, ok := n.attachment(b); ok && !n.half {
			a.Since = at(b.born)
			f.Attachments = append(f.Attachments, a)
		}
		for _, ip := range b.ips { // Felix takes the one with the higher number
			routed[ip] = max(routed[ip], b.link)
		}
	}
	for _, b := range n.boxes {
		for _, ip := range b.ips {
			if routed[ip] == b.link {
				f.Paths = append(f.Paths, model.Path{IP: ip, Link: b.link, Table: 254, Since: at(b.born)})
			}
		}
	}
	if w.full {
		n.reports(w, f, at)
	}
	for _, l := range n.links {
		f.Links = append(f.Links, model.Link{Index: l.index, Name: l.name, Kind: "veth", Up: true, Peer: 3, PeerNS: l.inode, Since: at(l.since)})
	}
	return f
}
