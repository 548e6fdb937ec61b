package model

import (
	"iter"
	"net/netip"
)

// indexHosts sets each node's Calico name and tunnels from the Calico Nodes (etcd mode). A
// Calico Node without orchRefs is the node of the same name.
func (v *View) indexHosts() {
	v.strangers, v.aliases = map[string]bool{}, map[string]int{}
	if len(v.s.Hosts) == 0 {
		return
	}
	at := make(map[string]int, len(v.s.Nodes))
	for i := range v.s.Nodes {
		at[v.s.Nodes[i].Name] = i
		v.s.Nodes[i].Calico = ""
	}
	for i := range v.s.Hosts {
		h := &v.s.Hosts[i]
		says := h.Kubernetes
		if says == "" {
			says = h.Name
		}
		row, ok := at[says]
		if !ok {
			v.strangers[h.Name] = true
			continue
		}
		// Two Calico Nodes may reference one node, one of them left over: that of the same
		// name wins, and both names are aliases.
		v.aliases[h.Name] = row
		if n := &v.s.Nodes[row]; n.Calico == "" || h.Name == n.Name {
			n.Calico, n.Tunnels, n.CalicoIPs = h.Name, h.Tunnels, h.IPs
		}
	}
}

// TunnelsOf returns a node's tunnels, from its annotations or from its Calico Node.
func (v *View) TunnelsOf(n *Node) []Tunnel {
	v.touched[Hosts] = true
	return n.Tunnels
}

// CalicoIPsOf returns a node's addresses in Calico, from its annotations or from its Calico Node.
func (v *View) CalicoIPsOf(n *Node) []netip.Addr {
	v.touched[Hosts] = true
	return n.CalicoIPs
}

// CalicoLacks reports whether Calico has nodes of its own, and none for this one.
func (v *View) CalicoLacks(n *Node) bool {
	v.touched[Hosts] = true
	return len(v.s.Hosts) > 0 && n.Calico == ""
}

// NodesAt returns the nodes that have an address in Calico.
func (v *View) NodesAt(ip netip.Addr) iter.Seq[*Node] {
	v.touched[Nodes], v.touched[Hosts] = true, true
	return func(yield func(*Node) bool) {
		for row := range v.nodesAt.rows(ip) {
			if !yield(&v.s.Nodes[row]) {
				return
			}
		}
	}
}

// CalicoName is Calico's name for a Kubernetes node.
func (v *View) CalicoName(node string) string {
	v.touched[Hosts] = true
	if n := v.NodeByName(node); n != nil && n.Calico != "" {
		return n.Calico
	}
	return node
}

// Stranger reports whether Calico has a node of that name that is no node of this cluster:
// one etcd may serve several clusters, and other hosts.
func (v *View) Stranger(node string) bool {
	v.touched[Hosts] = true
	return v.strangers[node]
}

// SameNode reports whether Calico's and Kubernetes' names are of the same node.
func (v *View) SameNode(calicos, kubernetes string) bool {
	v.touched[Hosts] = true
	if calicos == kubernetes {
		return true
	}
	n := v.NodeByName(calicos)
	return n != nil && n.Name == kubernetes
}

// KindHost is the kind of a Calico Node in etcd, which is not the Kubernetes node of that name.
const KindHost Kind = "host"

// Ref names the host.
func (h *Host) Ref() Ref { return Ref{KindHost, h.Name} }
