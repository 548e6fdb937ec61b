package model

// indexHosts tells each node what Calico calls it and which tunnels Calico gives it,
// where Calico keeps nodes of its own.
func (v *View) indexHosts() {
	v.strangers = map[string]bool{}
	if len(v.s.Hosts) == 0 {
		return
	}
	at := make(map[string]int, len(v.s.Nodes))
	for i := range v.s.Nodes {
		at[v.s.Nodes[i].Name] = i
	}
	for i := range v.s.Hosts {
		h := &v.s.Hosts[i]
		n, ok := at[h.Kubernetes]
		if !ok || h.Kubernetes == "" {
			v.strangers[h.Name] = true
			continue
		}
		v.s.Nodes[n].Calico, v.s.Nodes[n].Tunnels = h.Name, h.Tunnels
	}
}

// TunnelsOf gives a node's tunnels, whichever book keeps them.
func (v *View) TunnelsOf(n *Node) []Tunnel {
	v.touched[Hosts] = true
	return n.Tunnels
}

// Stranger tells that Calico knows a node of that name which is none of this cluster's:
// one etcd may serve several clusters, and hosts of none.
func (v *View) Stranger(node string) bool {
	v.touched[Hosts] = true
	return v.strangers[node] && v.NodeByName(node) == nil
}

// SameNode tells that Calico's name for a node and Kubernetes' mean the same one.
func (v *View) SameNode(calicos, kubernetes string) bool {
	if calicos == kubernetes {
		return true
	}
	n := v.NodeByName(calicos)
	return n != nil && n.Name == kubernetes
}
