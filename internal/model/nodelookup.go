package model

import (
	"iter"
	"net/netip"
	"slices"
)

func get[T any](v *View, t Table, rows []*T, i int32) *T {
	v.touched[t] = true
	return rows[i]
}

func lookUp[T any, K comparable](v *View, t Table, rows []*T, x *index[K], k K) *T {
	v.touched[t] = true
	if i, ok := x.first(k); ok {
		return rows[i]
	}
	return nil
}

func all[T any, K comparable](v *View, t Table, rows []*T, x *index[K], k K) iter.Seq[*T] {
	v.touched[t] = true
	return func(yield func(*T) bool) {
		for i := range x.rows(k) {
			if !yield(rows[i]) {
				return
			}
		}
	}
}

// Link is a row of Links.
func (v *View) Link(i int32) *Link { return get(v, Links, v.nodeIndex.links, i) }

// Attachment is a row of Attachments.
func (v *View) Attachment(i int32) *Attachment {
	return get(v, Attachments, v.nodeIndex.attachments, i)
}

// Sandbox is a row of Sandboxes.
func (v *View) Sandbox(i int32) *Sandbox { return get(v, Sandboxes, v.nodeIndex.sandboxes, i) }

// Container is a row of Containers.
func (v *View) Container(i int32) *Container { return get(v, Containers, v.nodeIndex.containers, i) }

// Process is a row of Processes.
func (v *View) Process(i int32) *Process { return get(v, Processes, v.nodeIndex.processes, i) }

// Mount is a row of Mounts.
func (v *View) Mount(i int32) *Mount { return get(v, Mounts, v.nodeIndex.mounts, i) }

// FailedDel is a row of FailedDels.
func (v *View) FailedDel(i int32) *FailedDel { return get(v, FailedDels, v.nodeIndex.failedDels, i) }

// LinkAt finds a host interface of a node by its index.
func (v *View) LinkAt(node string, index int) *Link {
	return lookUp(v, Links, v.nodeIndex.links, &v.nodeIndex.linkAt, nodeNumber{node, index})
}

// LinkNamed finds a host interface of a node by its name.
func (v *View) LinkNamed(node, name string) *Link {
	return lookUp(v, Links, v.nodeIndex.links, &v.nodeIndex.linkNamed, nodeName{node, name})
}

// PathTo is what the node's kernel does with a packet to the address; nil if it was not read.
func (v *View) PathTo(node string, ip netip.Addr) *Path {
	return lookUp(v, Paths, v.nodeIndex.paths, &v.nodeIndex.pathTo, nodeAddr{node, ip})
}

// RoutesTo returns the node's host routes of that address (/32 or /128).
func (v *View) RoutesTo(node string, ip netip.Addr) iter.Seq[*Route] {
	return all(v, Routes, v.nodeIndex.routes, &v.nodeIndex.routesTo, nodeAddr{node, ip})
}

// NeighboursOf returns the entries for an address in the node's neighbour table.
func (v *View) NeighboursOf(node string, ip netip.Addr) iter.Seq[*Neighbour] {
	return all(v, Neighbours, v.nodeIndex.neighbours, &v.nodeIndex.neighboursOf, nodeAddr{node, ip})
}

// AttachmentsOf returns the interfaces in the network namespace of a node's sandbox.
func (v *View) AttachmentsOf(node, sandbox string) iter.Seq[*Attachment] {
	return all(v, Attachments, v.nodeIndex.attachments, &v.nodeIndex.attachedTo, nodeName{node, sandbox})
}

// AttachmentsBehind returns the interfaces in network namespaces whose peer is that host interface.
func (v *View) AttachmentsBehind(node string, index int) iter.Seq[*Attachment] {
	return all(v, Attachments, v.nodeIndex.attachments, &v.nodeIndex.attachedPeer, nodeNumber{node, index})
}

// AttachmentsIn returns the interfaces in one network namespace of a node.
func (v *View) AttachmentsIn(node string, inode uint64) iter.Seq[*Attachment] {
	return all(v, Attachments, v.nodeIndex.attachments, &v.nodeIndex.attachedIn, nodeInode{node, inode})
}

// AttachmentsWith returns the interfaces in network namespaces, on any node, that have the
// address. Each is reported by its own node, which is no source for the pods of another.
func (v *View) AttachmentsWith(ip netip.Addr) iter.Seq[*Attachment] {
	return all(v, Attachments, v.nodeIndex.attachments, &v.nodeIndex.attachedWith, ip)
}

// FailedDelsOn returns the DELs that fail on a node: a few.
func (v *View) FailedDelsOn(node string) []FailedDel {
	v.touched[FailedDels] = true
	return v.stateOf(node).FailedDels
}

// LinksOn returns all interfaces of a node: hundreds.
func (v *View) LinksOn(node string) []Link {
	v.touched[Links] = true
	return v.stateOf(node).Links
}

// HasAddress reports whether an interface of a node has the address.
func (v *View) HasAddress(node string, ip netip.Addr) bool {
	return slices.ContainsFunc(v.LinksOn(node), func(l Link) bool {
		return slices.ContainsFunc(l.IPs, func(p netip.Prefix) bool { return p.Addr().Unmap() == ip })
	})
}

// RoutesOn returns all routes of a node.
func (v *View) RoutesOn(node string) []Route {
	v.touched[Routes] = true
	return v.stateOf(node).Routes
}

// RulesOn returns the routing policy rules of a node: a few.
func (v *View) RulesOn(node string) []Rule {
	v.touched[Rules] = true
	return v.stateOf(node).Rules
}

// stateOf is the state of a node; empty if it was not read.
func (v *View) stateOf(node string) *NodeState {
	if f := v.s.NodeState[node]; f != nil {
		return f
	}
	return &NodeState{}
}

// SysctlOf returns a sysctl of an interface; nil if it was not read.
func (v *View) SysctlOf(node, device, key string, ipv6 bool) *Sysctl {
	return lookUp(v, Sysctls, v.nodeIndex.sysctls, &v.nodeIndex.sysctlOf, nodeName{node, sysctlKey(device, key, ipv6)})
}

// SandboxesOf returns the sandboxes, on any node, with that pod name. Only those on the pod's
// own node are the pod's.
func (v *View) SandboxesOf(ns, pod string) iter.Seq[*Sandbox] {
	return all(v, Sandboxes, v.nodeIndex.sandboxes, &v.nodeIndex.sandboxesOf, name{ns, pod})
}

// RunningSandbox returns the running sandbox of a pod: the newest (highest attempt) of its
// UID on its own node, if that is ready. If it is not, the result is nil: the kubelet is about
// to create another.
func (v *View) RunningSandbox(pod *Pod) *Sandbox {
	var newest *Sandbox
	for s := range v.SandboxesOf(pod.Namespace, pod.Name) {
		// The UID in the sandbox of a static pod is the hash of its manifest.
		mine := s.UID == pod.UID || pod.Static != "" && s.UID == pod.Static
		if mine && s.Node == pod.Node && (newest == nil || s.Attempt > newest.Attempt) {
			newest = s
		}
	}
	if newest == nil || !newest.Ready || newest.HostNetwork {
		return nil
	}
	return newest
}

// SandboxNamed finds a sandbox of a node by its ID.
func (v *View) SandboxNamed(node, id string) *Sandbox {
	return lookUp(v, Sandboxes, v.nodeIndex.sandboxes, &v.nodeIndex.sandboxNamed, nodeName{node, id})
}

// ContainersIn returns the containers of a node's sandbox.
func (v *View) ContainersIn(node, sandbox string) iter.Seq[*Container] {
	return all(v, Containers, v.nodeIndex.containers, &v.nodeIndex.containersIn, nodeName{node, sandbox})
}

// ContainerNamed finds a container of a node by its ID.
func (v *View) ContainerNamed(node, id string) *Container {
	return lookUp(v, Containers, v.nodeIndex.containers, &v.nodeIndex.containerNamed, nodeName{node, id})
}

// CNIConfigsOn returns the CNI configurations of a node.
func (v *View) CNIConfigsOn(node string) iter.Seq[*CNIConfig] {
	return all(v, CNIConfigs, v.nodeIndex.configs, &v.nodeIndex.configsOn, node)
}

// CNIResultsOf returns libcni's cached results of a node's sandbox.
func (v *View) CNIResultsOf(node, sandbox string) iter.Seq[*CNIResult] {
	return all(v, CNIResults, v.nodeIndex.results, &v.nodeIndex.resultsOf, nodeName{node, sandbox})
}

// ProcessAt finds a process of a node.
func (v *View) ProcessAt(node string, pid int) *Process {
	return lookUp(v, Processes, v.nodeIndex.processes, &v.nodeIndex.processAt, nodeNumber{node, pid})
}

// ProcessesIn returns the processes in a node's container; see Process for which are listed.
func (v *View) ProcessesIn(node, container string) iter.Seq[*Process] {
	return all(v, Processes, v.nodeIndex.processes, &v.nodeIndex.processesIn, nodeName{node, container})
}

// ProcessesOf returns the listed processes of a pod on a node, by its UID.
func (v *View) ProcessesOf(node, uid string) iter.Seq[*Process] {
	return all(v, Processes, v.nodeIndex.processes, &v.nodeIndex.processesOf, nodeName{node, uid})
}

// ProcessesOn returns the listed processes of a node.
func (v *View) ProcessesOn(node string) iter.Seq[*Process] {
	return all(v, Processes, v.nodeIndex.processes, &v.nodeIndex.processesOn, node)
}

// MountsOf returns the mounts that a pod uses on a node, by its UID.
func (v *View) MountsOf(node, uid string) iter.Seq[*Mount] {
	return all(v, Mounts, v.nodeIndex.mounts, &v.nodeIndex.mountsOf, nodeName{node, uid})
}

// MountsOn returns the mounts of one file system on a node, by its device number.
func (v *View) MountsOn(node, device string) iter.Seq[*Mount] {
	return all(v, Mounts, v.nodeIndex.mounts, &v.nodeIndex.mountsOn, nodeName{node, device})
}

// RuntimesOn returns how the container runtime of a node answers, by call.
func (v *View) RuntimesOn(node string) iter.Seq[*Runtime] {
	return all(v, Runtimes, v.nodeIndex.runtimes, &v.nodeIndex.runtimesOn, node)
}

// MachineOf returns the machine row of a node, or nil.
func (v *View) MachineOf(node string) *Machine {
	return lookUp(v, Machines, v.nodeIndex.machines, &v.nodeIndex.machineOf, node)
}

// EventsOf returns the events of pods with that name.
func (v *View) EventsOf(ns, pod string) iter.Seq[*Event] {
	return each(v, Events, v.s.Events, v.events.rows(name{ns, pod}))
}

// Sees reports whether the tables of a node were read completely.
func (v *View) Sees(node string, ts ...Table) bool {
	for _, t := range ts {
		if !v.State(t, node).Seen() {
			return false
		}
	}
	return true
}

// Agents reports whether node state was requested from any node.
func (v *View) Agents() bool { return v.asked }
