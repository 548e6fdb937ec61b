package timeline

import "slices"

// judgeNameless finds failing DELs of sandboxes whose pod no line names, as where containerd's log is
// all that there is.
func (l *Log) judgeNameless(x *index) []Verdict {
	failed := map[uint32]int{} // per sandbox
	of := func(p *packed) uint32 {
		if s := &x.subjects[p.subject]; s.pod == 0 {
			return s.sandbox
		}
		return 0
	}
	for n := l.events.first; n < l.events.end; n++ {
		if p := l.events.at(n); p.kind == DelFailed || p.kind == SandboxStopFailed {
			failed[of(p)]++
		}
	}
	events := map[uint32][]Event{}
	for n := l.events.first; n < l.events.end; n++ {
		if p := l.events.at(n); of(p) != 0 && failed[of(p)] > 1 {
			words := l.name(x.subjects[p.subject])
			events[of(p)] = append(events[of(p)], l.unpack(p, &words))
		}
	}
	var out []Verdict
	for _, all := range events {
		all, apart, left := l.oneClock(all)
		inOneZone(all)
		s := newStory("", all, cover{Ends: l.covered(all), Dels: l.dels, Nodes: x.nodes, Named: l.named})
		s.apart = apart
		for _, v := range retriedDels(s, s.instances()) {
			v.NotShown = append(append(v.NotShown, left...), "which pod the sandbox belongs to: no line names it")
			v.Lines = tidy(v.Lines)
			out = append(out, v)
		}
	}
	slices.SortFunc(out, func(a, b Verdict) int {
		return slices.Compare([]string{a.Node, a.Culprit}, []string{b.Node, b.Culprit})
	})
	return out
}
