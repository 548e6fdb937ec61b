package model

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
)

// nodeIndex holds the rows of all node tables, sorted by node and then within the node, and
// their indices. The keys contain the node's name, so that a node is no source for another;
// only attachedWith and sandboxesOf span nodes, and their users check the node.
type nodeIndex struct {
	links       []*Link
	paths       []*Path
	routes      []*Route
	neighbours  []*Neighbour
	attachments []*Attachment
	sysctls     []*Sysctl
	sandboxes   []*Sandbox
	containers  []*Container
	configs     []*CNIConfig
	results     []*CNIResult
	processes   []*Process
	mounts      []*Mount
	runtimes    []*Runtime
	failedDels  []*FailedDel
	machines    []*Machine

	linkAt         index[nodeNumber]
	linkNamed      index[nodeName]
	pathTo         index[nodeAddr]
	routesTo       index[nodeAddr]
	neighboursOf   index[nodeAddr]
	attachedTo     index[nodeName] // by sandbox
	attachedPeer   index[nodeNumber]
	attachedWith   index[netip.Addr]
	attachedIn     index[nodeInode]
	sysctlOf       index[nodeName]
	sandboxesOf    index[name]
	sandboxNamed   index[nodeName]
	containersIn   index[nodeName]
	containerNamed index[nodeName]
	configsOn      index[string]
	resultsOf      index[nodeName]
	processAt      index[nodeNumber]
	processesIn    index[nodeName] // by container
	processesOf    index[nodeName] // by pod
	processesOn    index[string]
	mountsOf       index[nodeName] // by pod
	mountsOn       index[nodeName]
	runtimesOn     index[string]
	machineOf      index[string]

	setups map[string]CNISetup // by node, of those that have any configuration
}

type (
	nodeNumber struct {
		node string
		n    int
	}
	nodeInode struct {
		node  string
		inode uint64
	}
	nodeName struct{ node, name string }
	nodeAddr struct {
		node string
		ip   netip.Addr
	}
)

// indexNodeState collects the rows of all nodes and sets their Node. It sorts them within a
// node, because the kernel returns them in any order.
func (v *View) indexNodeState() {
	f := &v.nodeIndex
	f.setups = map[string]CNISetup{}
	for _, node := range slices.Sorted(maps.Keys(v.s.NodeState)) {
		rows := v.s.NodeState[node]
		if rows == nil {
			continue
		}
		gather(&f.links, rows.Links, node, func(r *Link) *string { return &r.Node }, func(a, b *Link) int { return cmp.Compare(a.Index, b.Index) })
		gather(&f.routes, rows.Routes, node, func(r *Route) *string { return &r.Node }, func(a, b *Route) int {
			return cmp.Or(a.Dst.Addr().Compare(b.Dst.Addr()), cmp.Compare(a.Dst.Bits(), b.Dst.Bits()), cmp.Compare(a.Table, b.Table), cmp.Compare(a.Metric, b.Metric), cmp.Compare(a.Link, b.Link))
		})
		gather(&f.paths, rows.Paths, node, func(r *Path) *string { return &r.Node }, func(a, b *Path) int { return a.IP.Compare(b.IP) })
		gather(&f.neighbours, rows.Neighbours, node, func(r *Neighbour) *string { return &r.Node }, func(a, b *Neighbour) int {
			return cmp.Or(a.IP.Compare(b.IP), cmp.Compare(a.Link, b.Link))
		})
		gather(&f.attachments, rows.Attachments, node, func(r *Attachment) *string { return &r.Node }, func(a, b *Attachment) int {
			return cmp.Or(cmp.Compare(a.Sandbox, b.Sandbox), cmp.Compare(a.NetNS, b.NetNS), cmp.Compare(a.Index, b.Index))
		})
		gather(&f.sysctls, rows.Sysctls, node, func(r *Sysctl) *string { return &r.Node }, func(a, b *Sysctl) int {
			return cmp.Or(cmp.Compare(a.Device, b.Device), cmp.Compare(a.Key, b.Key))
		})
		gather(&f.sandboxes, rows.Sandboxes, node, func(r *Sandbox) *string { return &r.Node }, func(a, b *Sandbox) int { return cmp.Compare(a.ID, b.ID) })
		gather(&f.containers, rows.Containers, node, func(r *Container) *string { return &r.Node }, func(a, b *Container) int { return cmp.Compare(a.ID, b.ID) })
		gather(&f.configs, rows.CNIConfigs, node, func(r *CNIConfig) *string { return &r.Node }, func(a, b *CNIConfig) int { return cmp.Compare(a.File, b.File) })
		f.setups[node] = setup(f.configs[len(f.configs)-len(rows.CNIConfigs):])
		gather(&f.results, rows.CNIResults, node, func(r *CNIResult) *string { return &r.Node }, func(a, b *CNIResult) int {
			return cmp.Or(cmp.Compare(a.Container, b.Container), cmp.Compare(a.Network, b.Network), cmp.Compare(a.Interface, b.Interface))
		})
		gather(&f.processes, rows.Processes, node, func(r *Process) *string { return &r.Node }, func(a, b *Process) int { return cmp.Compare(a.PID, b.PID) })
		gather(&f.mounts, rows.Mounts, node, func(r *Mount) *string { return &r.Node }, func(a, b *Mount) int {
			return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Target, b.Target))
		})
		gather(&f.runtimes, rows.Runtimes, node, func(r *Runtime) *string { return &r.Node }, func(a, b *Runtime) int { return cmp.Compare(a.Call, b.Call) })
		gather(&f.failedDels, rows.FailedDels, node, func(r *FailedDel) *string { return &r.Node }, func(a, b *FailedDel) int { return cmp.Compare(a.Sandbox, b.Sandbox) })
		gather(&f.machines, rows.Machines, node, func(r *Machine) *string { return &r.Node }, func(a, b *Machine) int { return cmp.Compare(a.BootID, b.BootID) })
	}
	f.indexKernel()
	f.indexRuntime()
}

// gather appends pointers to the rows of one node, sorted, and sets their node. Rows that have it are
// not written to: others may read them.
func gather[T any](all *[]*T, rows []T, node string, of func(*T) *string, by func(a, b *T) int) {
	first := len(*all)
	for i := range rows {
		if has := of(&rows[i]); *has != node {
			*has = node
		}
		*all = append(*all, &rows[i])
	}
	if own := (*all)[first:]; !slices.IsSortedFunc(own, by) { // they mostly come sorted
		slices.SortStableFunc(own, by)
	}
}

// by builds an index; key returns false for a row without a key.
func by[T any, K comparable](rows []*T, key func(*T) (K, bool)) index[K] {
	x := newIndex[K](len(rows))
	for i := len(rows) - 1; i >= 0; i-- {
		if k, ok := key(rows[i]); ok {
			x.add(k, i)
		}
	}
	return x
}

func (f *nodeIndex) indexKernel() {
	f.linkAt = by(f.links, func(l *Link) (nodeNumber, bool) { return nodeNumber{l.Node, l.Index}, true })
	f.linkNamed = by(f.links, func(l *Link) (nodeName, bool) { return nodeName{l.Node, l.Name}, true })
	f.pathTo = by(f.paths, func(p *Path) (nodeAddr, bool) { return nodeAddr{p.Node, p.IP}, true })
	f.routesTo = by(f.routes, func(r *Route) (nodeAddr, bool) { return nodeAddr{r.Node, r.Dst.Addr()}, r.Dst.IsSingleIP() })
	f.neighboursOf = by(f.neighbours, func(n *Neighbour) (nodeAddr, bool) { return nodeAddr{n.Node, n.IP}, true })
	f.attachedTo = by(f.attachments, func(a *Attachment) (nodeName, bool) { return nodeName{a.Node, a.Sandbox}, a.Sandbox != "" })
	f.attachedPeer = by(f.attachments, func(a *Attachment) (nodeNumber, bool) {
		return nodeNumber{a.Node, a.Peer}, a.Peer != 0 && a.PeerNS != a.Inode
	})
	f.attachedIn = by(f.attachments, func(a *Attachment) (nodeInode, bool) { return nodeInode{a.Node, a.Inode}, a.Inode != 0 })
	f.attachedWith = newIndex[netip.Addr](len(f.attachments))
	for i := len(f.attachments) - 1; i >= 0; i-- {
		for _, p := range f.attachments[i].IPs {
			f.attachedWith.add(p.Addr(), i)
		}
	}
	f.sysctlOf = by(f.sysctls, func(s *Sysctl) (nodeName, bool) { return nodeName{s.Node, sysctlKey(s.Device, s.Key, s.IPv6)}, true })
}

func sysctlKey(device, key string, ipv6 bool) string {
	if ipv6 {
		key += "6"
	}
	return device + "/" + key
}

func (f *nodeIndex) indexRuntime() {
	f.sandboxesOf = by(f.sandboxes, func(s *Sandbox) (name, bool) { return name{s.Namespace, s.Pod}, true })
	f.sandboxNamed = by(f.sandboxes, func(s *Sandbox) (nodeName, bool) { return nodeName{s.Node, s.ID}, true })
	f.containersIn = by(f.containers, func(c *Container) (nodeName, bool) { return nodeName{c.Node, c.Sandbox}, true })
	f.containerNamed = by(f.containers, func(c *Container) (nodeName, bool) { return nodeName{c.Node, c.ID}, true })
	f.configsOn = by(f.configs, func(c *CNIConfig) (string, bool) { return c.Node, true })
	f.resultsOf = by(f.results, func(r *CNIResult) (nodeName, bool) { return nodeName{r.Node, r.Container}, true })
	f.processAt = by(f.processes, func(p *Process) (nodeNumber, bool) { return nodeNumber{p.Node, p.PID}, true })
	f.processesIn = by(f.processes, func(p *Process) (nodeName, bool) { return nodeName{p.Node, p.Container}, p.Container != "" })
	f.processesOf = by(f.processes, func(p *Process) (nodeName, bool) { return nodeName{p.Node, p.PodUID}, p.PodUID != "" })
	f.processesOn = by(f.processes, func(p *Process) (string, bool) { return p.Node, true })
	f.mountsOf = newIndex[nodeName](len(f.mounts))
	for i := len(f.mounts) - 1; i >= 0; i-- {
		for _, uid := range f.mounts[i].Pods {
			f.mountsOf.add(nodeName{f.mounts[i].Node, uid}, i)
		}
	}
	f.mountsOn = by(f.mounts, func(m *Mount) (nodeName, bool) { return nodeName{m.Node, m.Device}, true })
	f.runtimesOn = by(f.runtimes, func(r *Runtime) (string, bool) { return r.Node, true })
	f.machineOf = by(f.machines, func(m *Machine) (string, bool) { return m.Node, true })
}

// claimNodeState claims the addresses in network namespaces that are in use (a process, or a
// ready sandbox), whatever Kubernetes and Calico record.
func (v *View) claimNodeState() {
	for i := len(v.nodeIndex.attachments) - 1; i >= 0; i-- {
		a := v.nodeIndex.attachments[i]
		box, ok := v.nodeIndex.sandboxNamed.first(nodeName{a.Node, a.Sandbox})
		if a.PIDs == 0 && (!ok || !v.nodeIndex.sandboxes[box].Ready) {
			continue // a leftover namespace, not in use
		}
		for _, p := range a.IPs {
			v.claim(p.Addr(), Claim{BySandbox, int32(i), p.Addr()})
		}
	}
}
