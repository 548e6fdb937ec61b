package model

import "slices"

// PutFacts adds what nodes said, and how much of it was seen, in the place of what they
// said before.
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
