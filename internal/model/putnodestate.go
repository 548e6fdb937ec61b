package model

import "slices"

// PutFacts replaces node state and coverage of the nodes that said has coverage of. Those of
// other nodes stay.
func (s *Snapshot) PutFacts(said *Snapshot) {
	of := map[string]bool{}
	for _, c := range said.Coverage {
		of[c.Node] = c.Node != ""
	}
	s.Coverage = slices.DeleteFunc(s.Coverage, func(c Coverage) bool { return of[c.Node] })
	s.Coverage = append(s.Coverage, said.Coverage...)
	if s.NodeState == nil {
		s.NodeState = map[string]*NodeState{}
	}
	for node := range of {
		delete(s.NodeState, node)
	}
	for node, facts := range said.NodeState {
		s.NodeState[node] = facts
	}
}
