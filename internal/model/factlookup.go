package model

import (
	"iter"
	"net/netip"
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

// LinkAt finds a device of a node by its index.
func (v *View) LinkAt(node string, index int) *Link {
	return lookUp(v, Links, v.nodeIndex.links, &v.nodeIndex.linkAt, nodeNumber{node, index})
}

// LinkNamed finds a device of a node by its name.
func (v *View) LinkNamed(node, name string) *Link {
	return lookUp(v, Links, v.nodeIndex.links, &v.nodeIndex.linkNamed, nodeName{node, name})
}

// PathTo is what the node's kernel does with a packet to the address; nil if it was not asked.
func (v *View) PathTo(node string, ip netip.Addr) *Path {
	return lookUp(v, Paths, v.nodeIndex.paths, &v.nodeIndex.pathTo, nodeAddr{node, ip})
}

// RoutesTo gives the routes of the node to that one address.
func (v *View) RoutesTo(node string, ip netip.Addr) iter.Seq[*Route] {
	return all(v, Routes, v.nodeIndex.routes, &v.nodeIndex.routesTo, nodeAddr{node, ip})
}

// NeighboursOf gives the entries for an address in the node's neighbour table.
func (v *View) NeighboursOf(node string, ip netip.Addr) iter.Seq[*Neighbour] {
	return all(v, Neighbours, v.nodeIndex.neighbours, &v.nodeIndex.neighboursOf, nodeAddr{node, ip})
}

// AttachmentsOf gives the devices inside the namespace of a node's sandbox.
func (v *View) AttachmentsOf(node, sandbox string) iter.Seq[*Attachment] {
	return all(v, Attachments, v.nodeIndex.attachments, &v.nodeIndex.attachedTo, nodeName{node, sandbox})
}

// AttachmentsBehind gives the devices inside namespaces whose other end is that device of the host.
func (v *View) AttachmentsBehind(node string, index int) iter.Seq[*Attachment] {
	return all(v, Attachments, v.nodeIndex.attachments, &v.nodeIndex.attachedPeer, nodeNumber{node, index})
}

// AttachmentsIn gives the devices inside one namespace of a node.
func (v *View) AttachmentsIn(node string, inode uint64) iter.Seq[*Attachment] {
	return all(v, Attachments, v.nodeIndex.attachments, &v.nodeIndex.attachedIn, nodeInode{node, inode})
}

// AttachmentsWith gives the devices inside namespaces, on any node, that have the address.
// Each is the word of its own node, and says nothing about another's pods.
func (v *View) AttachmentsWith(ip netip.Addr) iter.Seq[*Attachment] {
	return all(v, Attachments, v.nodeIndex.attachments, &v.nodeIndex.attachedWith, ip)
}

// SysctlOf gives a setting of a device; nil if it was not read.
func (v *View) SysctlOf(node, device, key string, ipv6 bool) *Sysctl {
	return lookUp(v, Sysctls, v.nodeIndex.sysctls, &v.nodeIndex.sysctlOf, nodeName{node, sysctlKey(device, key, ipv6)})
}

// SandboxesOf gives the sandboxes, on any node, that are of a pod of that name. Only those
// of the pod's own node are the pod's.
func (v *View) SandboxesOf(ns, pod string) iter.Seq[*Sandbox] {
	return all(v, Sandboxes, v.nodeIndex.sandboxes, &v.nodeIndex.sandboxesOf, name{ns, pod})
}

// RunningSandbox gives the one that runs for a pod, on its own node: the newest of this very
// pod, and not of one of the same name, if it is ready. Where the newest is not, the kubelet
// is about to make another.
func (v *View) RunningSandbox(pod *Pod) *Sandbox {
	var newest *Sandbox
	for s := range v.SandboxesOf(pod.Namespace, pod.Name) {
		// The sandbox of a static pod carries the hash of its manifest.
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

// ContainersIn gives the containers of a node's sandbox.
func (v *View) ContainersIn(node, sandbox string) iter.Seq[*Container] {
	return all(v, Containers, v.nodeIndex.containers, &v.nodeIndex.containersIn, nodeName{node, sandbox})
}

// ContainerNamed finds a container of a node by its ID.
func (v *View) ContainerNamed(node, id string) *Container {
	return lookUp(v, Containers, v.nodeIndex.containers, &v.nodeIndex.containerNamed, nodeName{node, id})
}

// CNIConfigsOn gives the network configurations of a node.
func (v *View) CNIConfigsOn(node string) iter.Seq[*CNIConfig] {
	return all(v, CNIConfigs, v.nodeIndex.configs, &v.nodeIndex.configsOn, node)
}

// CNIResultsOf gives libcni's records of a node's sandbox.
func (v *View) CNIResultsOf(node, sandbox string) iter.Seq[*CNIResult] {
	return all(v, CNIResults, v.nodeIndex.results, &v.nodeIndex.resultsOf, nodeName{node, sandbox})
}

// ProcessAt finds a process of a node.
func (v *View) ProcessAt(node string, pid int) *Process {
	return lookUp(v, Processes, v.nodeIndex.processes, &v.nodeIndex.processAt, nodeNumber{node, pid})
}

// ProcessesIn gives the processes of interest in a node's container.
func (v *View) ProcessesIn(node, container string) iter.Seq[*Process] {
	return all(v, Processes, v.nodeIndex.processes, &v.nodeIndex.processesIn, nodeName{node, container})
}

// ProcessesOf gives the processes of interest that a pod has on a node, by its UID.
func (v *View) ProcessesOf(node, uid string) iter.Seq[*Process] {
	return all(v, Processes, v.nodeIndex.processes, &v.nodeIndex.processesOf, nodeName{node, uid})
}

// ProcessesOn gives the processes of interest of a node.
func (v *View) ProcessesOn(node string) iter.Seq[*Process] {
	return all(v, Processes, v.nodeIndex.processes, &v.nodeIndex.processesOn, node)
}

// MountsOf gives the mounts that a pod uses on a node, by its UID.
func (v *View) MountsOf(node, uid string) iter.Seq[*Mount] {
	return all(v, Mounts, v.nodeIndex.mounts, &v.nodeIndex.mountsOf, nodeName{node, uid})
}

// MountsOn gives the mounts of a node that are of one file system, by its device number.
func (v *View) MountsOn(node, device string) iter.Seq[*Mount] {
	return all(v, Mounts, v.nodeIndex.mounts, &v.nodeIndex.mountsOn, nodeName{node, device})
}

// RuntimesOn tells how the container runtime of a node answers.
func (v *View) RuntimesOn(node string) iter.Seq[*Runtime] {
	return all(v, Runtimes, v.nodeIndex.runtimes, &v.nodeIndex.runtimesOn, node)
}

// MachineOf gives what is true of a node as a whole, or nil.
func (v *View) MachineOf(node string) *Machine {
	return lookUp(v, Machines, v.nodeIndex.machines, &v.nodeIndex.machineOf, node)
}

// EventsOf gives what Kubernetes noted about a pod of that name.
func (v *View) EventsOf(ns, pod string) iter.Seq[*Event] {
	return each(v, Events, v.s.Events, v.events.rows(name{ns, pod}))
}

// Sees tells that the tables of a node were seen in full.
func (v *View) Sees(node string, ts ...Table) bool {
	for _, t := range ts {
		if !v.State(t, node).Seen() {
			return false
		}
	}
	return true
}

// Agents tells whether any node was asked about itself at all.
func (v *View) Agents() bool { return v.asked }
