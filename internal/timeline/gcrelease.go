package timeline

import (
	"fmt"
	"slices"
)

// releasedByGC finds addresses that the IPAM garbage collector of calico-kube-controllers
// released as leaked while their pod was running (calico issue 12257).
func releasedByGC(s *Story, instances []*instance) []Verdict {
	var out []Verdict
	for c := range s.Events {
		e := &s.Events[c]
		if e.Kind != GCReleased {
			continue
		}
		for _, l := range instances {
			if l.ID == "" || e.Sandbox != l.ID && (e.Sandbox != "" || !slices.Contains(l.Addresses, e.Address)) {
				continue
			}
			if v, ok := s.releasedInUse(l, c); ok {
				out = append(out, v)
			}
		}
	}
	return out
}

// releasedInUse judges the release c of an address of instance l. No verdict if the end of l was
// or may have been requested before c. Proven if an event of l after c shows that it ran.
// Otherwise likely, and only if the garbage collector attributed the address to another node, or
// if the node's log continues after c and so would show the end of l.
func (s *Story) releasedInUse(l *instance, c int) (Verdict, bool) {
	if l.add < 0 || s.before(l.add, c) == unknown || s.endedBy(l, c) {
		return Verdict{}, false
	}
	e := &s.Events[c]
	v := Verdict{
		Cause: ReleasedInUse, Certainty: Likely, Node: l.Node, At: e.At, Victim: l.ID, Lost: []string{"address"}, Was: l.address(),
		Lines: s.lines(l.add, c),
	}
	if e.Address.IsValid() {
		v.Was = e.Address
	}
	v.Says = fmt.Sprintf("calico-kube-controllers released %s of %s as leaked while the sandbox was running", v.Was, l.name())
	if i := s.firstAfter(l, c, PodSeen, ContainerStarted, PodTerminating, PodKilled, ContainerDied, DelBegin); i >= 0 {
		v.Certainty = Proven
		v.Lines = append(v.Lines, s.lines(i)...)
		return v, true
	}
	v.NotShown = append(v.NotShown, fmt.Sprintf("whether %s still ran after that: no later line is about it, and none ends it", l.name()))
	if e.Node != "" && l.Node != "" && !sameHost(e.Node, l.Node) {
		v.Says += fmt.Sprintf(": it attributed the address to node %s, and the pod is on %s", e.Node, l.Node)
		return v, true
	}
	return v, s.covers(l, e.At)
}

// endedBy reports whether the end of an instance was, or may have been, requested before
// event c: an event that ends it is not certainly after c. Events without a sandbox count if
// their UID does not contradict.
func (s *Story) endedBy(l *instance, c int) bool {
	over := func(i int) bool {
		k := s.Events[i].Kind
		byNode := slices.Contains(delDid, k) && (k == EndpointDeleted || onNode(s.Events[i].Source))
		return (slices.Contains(ending, k) || byNode) && s.before(c, i) == unknown
	}
	if slices.ContainsFunc(l.events, over) {
		return true
	}
	for i := l.add + 1; i < len(s.Events); i++ { // events that name only the pod
		if e := &s.Events[i]; e.Sandbox == "" && (e.UID == "" || e.UID == l.UID) && over(i) {
			return true
		}
	}
	return false
}
