package model

// indexHosts tells each node what Calico calls it and which tunnels Calico gives it,
// where Calico keeps nodes of its own. A host that says nothing is the node of its name.
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
		// Two hosts may say they are one node, one of them left over: that of the
		// node's own name is right, and both names mean it.
		v.aliases[h.Name] = row
		if n := &v.s.Nodes[row]; n.Calico == "" || h.Name == n.Name {
			n.Calico, n.Tunnels = h.Name, h.Tunnels
		}
	}
}

// TunnelsOf gives a node's tunnels, whichever book keeps them.
func (v *View) TunnelsOf(n *Node) []Tunnel {
	v.touched[Hosts] = true
	return n.Tunnels
}

// CalicoName is what Calico calls a node of Kubernetes'.
func (v *View) CalicoName(node string) string {
	v.touched[Hosts] = true
	if n := v.NodeByName(node); n != nil && n.Calico != "" {
		return n.Calico
	}
	return node
}

// Stranger tells that Calico knows a node of that name which is none of this cluster's:
// one etcd may serve several clusters, and hosts of none.
func (v *View) Stranger(node string) bool {
	v.touched[Hosts] = true
	return v.strangers[node]
}

// SameNode tells that Calico's name for a node and Kubernetes' mean the same one.
func (v *View) SameNode(calicos, kubernetes string) bool {
	v.touched[Hosts] = true
	if calicos == kubernetes {
		return true
	}
	n := v.NodeByName(calicos)
	return n != nil && n.Name == kubernetes
}
