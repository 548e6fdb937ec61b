package timeline

import (
	"fmt"
	"strings"
)

// staleNodename finds that Calico CNI uses the name of another node for its node. A host name
// that differs from the node name is common and no verdict. There is one
//   - proven: if both names are nodes of which a kubelet's log was read. The name of a directory
//     alone (node2-cni) does not make a node;
//   - likely: if Calico also used the node's own name in these logs.
//
// Only nodes that the pod's sandboxes were on count: lines of the IPAM garbage collector and of
// IPAM also name nodes that the pod was never on.
func staleNodename(s *Story, _ []*instance) []Verdict {
	for i := range s.Events {
		e := &s.Events[i]
		if e.Kind != NodeNamed || e.Node == "" || e.Object == "" || sameHost(e.Object, e.Node) || !s.ranOn(e.Node) {
			continue
		}
		v := Verdict{
			Cause: StaleNodename, Certainty: Proven, Node: e.Node, At: e.At, Lines: s.lines(i),
			Says: fmt.Sprintf("Calico CNI on node %s uses the node name %s", e.Node, e.Object),
		}
		switch {
		case s.cover.Nodes[e.Object] && s.cover.Nodes[e.Node]:
		case s.cover.Named[e.Node]:
			v.Certainty = Likely
		default:
			s.NotShown = append(s.NotShown, fmt.Sprintf("whether %s is the correct node name: Calico uses it for node %s", e.Object, e.Node))
			return nil
		}
		return []Verdict{v}
	}
	return nil
}

// ranOn reports whether one of the pod's sandboxes was on the node. It is true for every node if
// no line shows the node of any sandbox.
func (s *Story) ranOn(node string) bool {
	known := false
	for i := range s.Sandboxes {
		if s.Sandboxes[i].Node == node {
			return true
		}
		known = known || s.Sandboxes[i].Node != ""
	}
	return !known
}

// sameHost reports whether two names are of one host, with or without its domain.
func sameHost(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	return a == b || strings.HasPrefix(a, b+".") || strings.HasPrefix(b, a+".")
}
