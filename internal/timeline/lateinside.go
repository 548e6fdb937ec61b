package timeline

import (
	"fmt"
	"slices"
	"time"
)

// enclosing is how long before and after a DEL the stop of another sandbox may have begun and
// ended for the DEL to count as part of that stop. stopTakes is the same on a slow node, where one
// file has all three: kubelets end their requests to the runtime after two minutes.
const (
	enclosing = 10 * time.Second
	stopTakes = 2 * time.Minute
)

// lateInside finds DELs of a running sandbox b that the plugin made while an older sandbox a of
// the same name was being stopped. A plugin that finds endpoints by pod name does this: its
// lines name b, although nobody requested the end of b. Conditions:
//   - the node had not begun to stop b before the DEL (endAsked);
//   - the stop of a began before the DEL and ended after it (stopping), and no stop of b ended in between;
//   - an event shows b running after the DEL (ranAfter), or one file has the begin of a's stop,
//     the DEL and the end of a's stop, in this order (enclosed).
//
// With both of the last it is proven, with one of them likely.
func lateInside(s *Story, instances []*instance) []Verdict {
	var out []Verdict
	for _, b := range instances {
		if b.ID == "" || b.add < 0 {
			continue
		}
		d := s.asked(b)
		if d < 0 || s.endAsked(b, d) {
			continue
		}
		ran := s.ranAfter(b, d)
		a, from, to := s.stopping(b, d, instances)
		if a == nil {
			continue
		}
		if own := s.firstAfter(b, d, SandboxStopped, SandboxRemoved); own >= 0 {
			if s.before(to, own) == unknown {
				continue // it was, or may have been, b's own stop
			}
			if ran >= 0 && s.before(ran, own) == unknown {
				ran = -1
			}
		}
		_, began := s.firstInFile(from, d)
		_, ended := s.firstInFile(d, to)
		enclosed := began && ended
		if ran < 0 && !enclosed {
			continue
		}
		e := &s.Events[d]
		v := Verdict{
			Cause: LateDel, Certainty: Likely, Node: b.Node, At: e.At, Culprit: a.ID, Victim: b.ID,
			Says:  fmt.Sprintf("the stop of %s also ran a DEL of %s, %s after its ADD", a.name(), b.name(), lasted(e.At.Sub(s.Events[b.add].At))),
			Lines: s.lines(b.add, from, d, to, ran),
		}
		s.lostInside(&v, b, d)
		switch {
		case ran < 0:
			v.NotShown = append(v.NotShown, fmt.Sprintf("whether %s still ran after that: no later line is about it, and none ends it", b.name()))
		case enclosed:
			v.Certainty = Proven
		}
		out = append(out, v)
	}
	return out
}

// lostInside adds to v what the lines show that the instance lost in its DEL at event d, and
// what they do not show.
func (s *Story) lostInside(v *Verdict, l *instance, d int) {
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
		v.NotShown = append(v.NotShown, fmt.Sprintf("whether the endpoint of %s was deleted: no line shows it", l.name()))
	}
}

// asked gives the first event of the instance's DEL after its ADD in a log of its node, or -1.
func (s *Story) asked(l *instance) int {
	for _, i := range l.events {
		if i > l.add && onNode(s.Events[i].Source) && slices.Contains(delDid, s.Events[i].Kind) {
			return i
		}
	}
	return -1
}

// endAsked reports whether the node had, or may have, begun to stop the instance before event d.
// A request for its deletion is not enough: its containers stop before its network is deleted.
func (s *Story) endAsked(l *instance, d int) bool {
	return s.mayPrecede(l, d, PodKilled, PodKillFailed, ContainerDied, ContainerKillFailed, SandboxStopFailed, SandboxStopped)
}

// ranAfter gives an event that shows that the instance still ran after event d, or -1.
func (s *Story) ranAfter(l *instance, d int) int {
	return s.firstAfter(l, d, PodKilled, ContainerDied, SandboxStopFailed, DelFailed)
}

// stopping gives an instance older than b whose own stop began (from) after b's ADD and before
// event d, and ended (to) after d; nil if there is none.
func (s *Story) stopping(b *instance, d int, instances []*instance) (a *instance, from, to int) {
	for _, o := range instances {
		if o == b || o.ID == "" || o.Node != b.Node || o.add > b.add || s.begin(o) > b.add {
			continue
		}
		from, to = s.stopAround(o, b.add, d)
		if from >= 0 && to >= 0 && s.before(b.add, from) != unknown {
			return o, from, to
		}
	}
	return nil, -1, -1
}

// stopAround gives the first event of o's stop between the ADD and event d, and the first after
// d that ends it, both within enclosing of d, or else of one long stop; -1 if there is none.
func (s *Story) stopAround(o *instance, add, d int) (from, to int) {
	from, to = -1, -1
	for _, i := range o.events {
		e := &s.Events[i]
		switch {
		case e.At.Sub(s.Events[d].At).Abs() > enclosing:
		case i < d && i > add && onNode(e.Source) && slices.Contains(delDid, e.Kind) && from < 0:
			from = i
		case i > d && (e.Kind == SandboxStopped || e.Kind == DelEnd) && to < 0:
			to = i
		}
	}
	if from < 0 || to < 0 {
		return s.longStop(o, add, d)
	}
	return from, to
}

// longStop gives the begin and the end of the one stop of o that event d is in, if it took at most
// stopTakes: no stop of o ended or failed between them, the runtime reports its end, and one file
// has from, d and to in this order.
func (s *Story) longStop(o *instance, add, d int) (from, to int) {
	from, to = -1, -1
	for _, i := range o.events {
		e := &s.Events[i]
		ends := slices.Contains([]Kind{SandboxStopped, SandboxStopFailed, DelFailed, PodKillFailed, SandboxRemoved}, e.Kind)
		switch {
		case i <= add:
		case i < d && ends:
			from = -1
		case i < d && from < 0 && onNode(e.Source) && slices.Contains(delDid, e.Kind):
			from = i
		case i > d && to < 0 && ends:
			to = i
		}
	}
	if from < 0 || to < 0 || s.Events[to].Kind != SandboxStopped || s.Events[to].At.Sub(s.Events[from].At) > stopTakes || !s.within(from, d, to) {
		return -1, -1
	}
	return from, to
}

// within reports whether one file has the three events in this order.
func (s *Story) within(from, d, to int) bool {
	for _, p := range s.Places(from) {
		for _, q := range s.Places(d) {
			for _, r := range s.Places(to) {
				if p.File == q.File && q.File == r.File && p.Line <= q.Line && q.Line <= r.Line {
					return true
				}
			}
		}
	}
	return false
}
