package model

import (
	"net/netip"
	"slices"
)

// InUse reports whether any block records an address of a pod or a tunnel: only Calico IPAM
// writes those.
func (v *View) InUse() bool {
	for i := range v.s.Blocks {
		for j := range v.s.Blocks[i].Attributes {
			if at := &v.s.Blocks[i].Attributes[j]; at.Pod != "" || at.Tunnel() {
				return true
			}
		}
	}
	return false
}

// PodsInBlocks reports whether a block records an address for a pod that runs with it: Calico
// IPAM assigns addresses now. Blocks alone may be left over.
func (v *View) PodsInBlocks() bool {
	for i := range v.allocs {
		at := v.attribute(&v.allocs[i])
		if at == nil || at.Pod == "" {
			continue
		}
		if row, ok := v.pods.first(name{at.Namespace, at.Pod}); ok {
			p := &v.s.Pods[row]
			if p.Annotation == Written && slices.Contains(p.IPs, v.allocs[i].IP) {
				return true
			}
		}
	}
	return false
}

// Annotated reports whether Calico's CNI plugin has annotated any pod.
func (v *View) Annotated() bool {
	for i := range v.s.Pods {
		if v.s.Pods[i].Annotation == Written {
			return true
		}
	}
	return false
}

// ByPodCIDR reports whether every address that Calico's CNI plugin has annotated is in the pod
// CIDR of its node, on at least two nodes, while Calico IPAM has no object at all: the addresses
// come from host-local. On one node alone it may be chance.
func (v *View) ByPodCIDR() bool {
	for _, t := range []Table{Blocks, Affinities, Handles, Pods, PodPhase, PodNode, Nodes} {
		if !v.State(t, "").Seen() {
			return false
		}
	}
	if len(v.s.Blocks) > 0 || len(v.s.Affinities) > 0 || len(v.s.Handles) > 0 {
		return false
	}
	nodes := map[string]bool{}
	for i := range v.s.Pods {
		p := &v.s.Pods[i]
		if p.Annotation != Written || p.HostNetwork || len(p.Annotated) == 0 {
			continue
		}
		row, ok := v.nodes.first(p.Node)
		if !ok {
			return false
		}
		within := func(ip netip.Addr) bool {
			return slices.ContainsFunc(v.s.Nodes[row].PodCIDRs, func(c netip.Prefix) bool { return c.Contains(ip) })
		}
		if slices.ContainsFunc(p.Annotated, func(ip netip.Addr) bool { return !within(ip) }) {
			return false
		}
		nodes[p.Node] = true
	}
	return len(nodes) >= 2
}
