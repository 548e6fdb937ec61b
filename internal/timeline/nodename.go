package timeline

import (
	"fmt"
	"strings"
)

// staleNodename finds that Calico's CNI calls its node by another's name. That a node's
// host is called otherwise than the node is ordinary: it must be a name that another
// node of these logs has, or one that this node did not have all the time. And that the
// node itself is called so must not be known by a directory's name alone (node2-cni).
// The collector and the ledger speak of nodes that the pod never was on: they are no
// matter of its.
func staleNodename(s *Story, _ []*life) []Verdict {
	for i := range s.Events {
		e := &s.Events[i]
		if e.Kind != NodeNamed || e.Node == "" || e.Object == "" || sameHost(e.Object, e.Node) || !s.ranOn(e.Node) {
			continue
		}
		v := Verdict{
			Cause: StaleNodename, Certainty: Proven, Node: e.Node, At: e.At, Lines: s.lines(i),
			Says: fmt.Sprintf("Calico's CNI on %s calls itself %s", e.Node, e.Object),
		}
		switch {
		case s.cover.Nodes[e.Object] && s.cover.Nodes[e.Node]:
		case s.cover.Named[e.Node]:
			v.Certainty = Likely
		default:
			s.NotShown = append(s.NotShown, fmt.Sprintf("whether %s is the node's right name: Calico calls %s so", e.Object, e.Node))
			return nil
		}
		return []Verdict{v}
	}
	return nil
}

// ranOn tells whether one of the pod's sandboxes was on a node; where no line says on which
// they were it may have been any.
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

// sameHost tells whether two names are one host's, short and with its domain.
func sameHost(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	return a == b || strings.HasPrefix(a, b+".") || strings.HasPrefix(b, a+".")
}
