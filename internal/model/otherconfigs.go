package model

import (
	"fmt"
	"slices"
)

// doubtConfigs makes the CNI configurations of a node count as not read if pods run there that
// Calico has set up and none of the configurations is Calico's: then they are not, or no
// longer, those of the pods, and what follows from them is wrong.
func (v *View) doubtConfigs() {
	nodes := map[string]int{}
	for node := range v.s.NodeState {
		if c := v.nodeIndex.setups[node].Calicos; c == nil && v.State(CNIConfigs, node).Seen() {
			nodes[node] = 0
		}
	}
	if len(nodes) == 0 {
		return
	}
	for i := range v.s.Pods {
		p := &v.s.Pods[i]
		if _, ok := nodes[p.Node]; !ok || p.HostNetwork || p.Phase != Running || !p.Deleted.IsZero() {
			continue
		}
		_, recorded := v.endpointsByPod.first(name{p.Namespace, p.Name})
		if p.Annotation == Written || recorded {
			nodes[p.Node]++
		}
	}
	v.cover = slices.Clone(v.cover)
	for i := range v.cover {
		c := &v.cover[i]
		if pods := nodes[c.Node]; pods > 0 && c.Table == CNIConfigs {
			c.State, c.Reason = Partial, fmt.Sprintf("Calico has set up pods on it (%d), and no CNI configuration of Calico was found: the runtime may use another directory", pods)
			v.coverage[c.Node][CNIConfigs] = Partial
		}
	}
}
