package timeline

import (
	"fmt"
	"slices"
)

// collected finds addresses that kube-controllers freed as leaked while their pod lived
// (calico issue 12257).
func collected(s *Story, lives []*life) []Verdict {
	var out []Verdict
	for c := range s.Events {
		e := &s.Events[c]
		if e.Kind != CollectorReleased {
			continue
		}
		for _, l := range lives {
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

func (s *Story) releasedInUse(l *life, c int) (Verdict, bool) {
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
	v.Says = fmt.Sprintf("kube-controllers freed %s of %s as leaked while it ran", v.Was, l.name())
	for _, i := range l.events {
		switch s.Events[i].Kind {
		case PodSeen, ContainerStarted, PodTerminating, PodKilled, ContainerDied, DelBegin:
			if s.before(c, i) != unknown {
				v.Certainty = Proven
				v.Lines = append(v.Lines, s.lines(i)...)
				return v, true
			}
		default:
		}
	}
	v.NotShown = append(v.NotShown, fmt.Sprintf("%s at work after that: no line of it is later, and none ends it", l.name()))
	if e.Node != "" && l.Node != "" && !sameHost(e.Node, l.Node) {
		v.Says += fmt.Sprintf(": it took it for one of %s, and it is on %s", e.Node, l.Node)
		return v, true
	}
	return v, s.covers(l, e.At)
}

// endedBy tells whether a life was, or may have been, asked to end before event c.
func (s *Story) endedBy(l *life, c int) bool {
	over := func(i int) bool {
		k := s.Events[i].Kind
		byNode := slices.Contains(delDid, k) && (k == EndpointDeleted || onNode(s.Events[i].Source))
		return (slices.Contains(ending, k) || byNode) && s.before(c, i) == unknown
	}
	if slices.ContainsFunc(l.events, over) {
		return true
	}
	for i := l.add + 1; i < len(s.Events); i++ { // by name: whoever had it then
		if e := &s.Events[i]; e.Sandbox == "" && (e.UID == "" || e.UID == l.UID) && over(i) {
			return true
		}
	}
	return false
}
