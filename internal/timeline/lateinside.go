package timeline

import (
	"fmt"
	"slices"
	"time"
)

// enclosing is how long before and after a DEL another sandbox's may have begun and ended
// for the one to have been part of the other.
const enclosing = 10 * time.Second

// lateInside finds DELs that the plugin made of a living sandbox while an older one of
// the same name was being stopped. A plugin that finds endpoints by name does so: it
// names the new sandbox itself, and nobody had asked for the new one's end.
func lateInside(s *Story, lives []*life) []Verdict {
	var out []Verdict
	for _, b := range lives {
		if b.ID == "" || b.add < 0 {
			continue
		}
		d := s.asked(b)
		if d < 0 || s.endAsked(b, d) {
			continue
		}
		lived := s.livedOn(b, d)
		a, from, to := s.stopping(b, d, lives)
		if a == nil {
			continue
		}
		enclosed := s.shareFile(from, d) && s.shareFile(d, to)
		if lived < 0 && !enclosed {
			continue
		}
		e := &s.Events[d]
		v := Verdict{
			Cause: LateDel, Certainty: Likely, Node: b.Node, At: e.At, Culprit: a.ID, Victim: b.ID,
			Says:  fmt.Sprintf("the stop of %s deleted %s too, %s after its ADD", a.name(), b.name(), lasted(e.At.Sub(s.Events[b.add].At))),
			Lines: s.lines(b.add, from, d, to, lived),
		}
		s.lostInside(&v, b, d)
		switch {
		case lived < 0:
			v.NotShown = append(v.NotShown, fmt.Sprintf("that %s lived on: no line of it is later, and none asks for its end", b.name()))
		case enclosed:
			v.Certainty = Proven
		}
		out = append(out, v)
	}
	return out
}

// lostInside adds what lines show that a life lost in its DEL around event d, and says
// what they do not.
func (s *Story) lostInside(v *Verdict, l *life, d int) {
	for _, i := range l.events {
		e := &s.Events[i]
		lost := map[Kind]string{AddressReleased: "address", EndpointDeleted: "endpoint", HandleReleased: "handle"}[e.Kind]
		if lost == "" || i <= l.add || e.At.Sub(s.Events[d].At).Abs() > sameCall {
			continue
		}
		if !slices.Contains(v.Lost, lost) {
			v.Lost = append(v.Lost, lost)
		}
		v.Lines = append(v.Lines, s.lines(i)...)
	}
	slices.Sort(v.Lost)
	if !slices.Contains(v.Lost, "endpoint") {
		v.NotShown = append(v.NotShown, fmt.Sprintf("whether the endpoint of %s was deleted: no line says so", l.name()))
	}
}

// asked gives the first event of a life's DEL by its node's own log, or -1.
func (s *Story) asked(l *life) int {
	for _, i := range l.events {
		if i > l.add && onNode(s.Events[i].Source) && slices.Contains(delDid, s.Events[i].Kind) {
			return i
		}
	}
	return -1
}

// endAsked tells whether the node had begun to end a life before event d. That its
// deletion was asked for is not enough: its containers end before its network does.
func (s *Story) endAsked(l *life, d int) bool {
	for _, i := range l.events {
		switch s.Events[i].Kind {
		case PodKilled, PodKillFailed, ContainerDied, ContainerKillFailed, SandboxStopFailed, SandboxStopped:
			if s.before(d, i) == unknown {
				return true
			}
		default:
		}
	}
	return false
}

// livedOn gives an event that shows the life still running after event d, or -1.
func (s *Story) livedOn(l *life, d int) int {
	for _, i := range l.events {
		switch s.Events[i].Kind {
		case PodKilled, ContainerDied, SandboxStopFailed, DelFailed:
			if s.before(d, i) != unknown {
				return i
			}
		default:
		}
	}
	return -1
}

// stopping gives an older life whose own stop began before event d and ended after it.
func (s *Story) stopping(b *life, d int, lives []*life) (a *life, from, to int) {
	for _, o := range lives {
		if o == b || o.ID == "" || o.Node != b.Node || o.add > b.add || s.begin(o) > b.add {
			continue
		}
		from, to = -1, -1
		for _, i := range o.events {
			e := &s.Events[i]
			switch {
			case e.At.Sub(s.Events[d].At).Abs() > enclosing:
			case i < d && i > b.add && onNode(e.Source) && slices.Contains(delDid, e.Kind) && from < 0:
				from = i
			case i > d && (e.Kind == SandboxStopped || e.Kind == DelEnd) && to < 0:
				to = i
			}
		}
		if from >= 0 && to >= 0 && s.before(b.add, from) != unknown {
			return o, from, to
		}
	}
	return nil, -1, -1
}
