package timeline

import (
	"fmt"
	"net/netip"
	"slices"
)

// moved finds pod names whose address changed although no line shows the end of the first
// instance, or its DEL failed. Recreating a pod changes its address too, but then lines show
// that the old one was killed and deleted.
func moved(s *Story, instances []*instance) []Verdict {
	var addressed []*instance
	for _, l := range instances {
		if len(l.Addresses) > 0 {
			addressed = append(addressed, l)
		}
	}
	var out []Verdict
	for i := 1; i < len(addressed); i++ {
		a, b := addressed[i-1], addressed[i]
		if slices.ContainsFunc(a.Addresses, func(x netip.Addr) bool { return slices.Contains(b.Addresses, x) }) {
			continue
		}
		was, is := s.showsAddress(a), s.showsAddress(b)
		undone := s.delUndone(a, s.begin(b), instances)
		if was < 0 || is < 0 || !undone && s.tornDown(a, s.begin(b)) {
			continue
		}
		out = append(out, s.change(a, b, was, is, undone))
	}
	return out
}

// change makes the verdict that the name's address changed from a's (event was) to b's (event
// is). undone: a's DEL failed, which is the reason; else the reason is reported as unknown.
func (s *Story) change(a, b *instance, was, is int, undone bool) Verdict {
	v := Verdict{
		Cause: AddressMoved, Certainty: Proven, Node: b.Node, At: s.Events[is].At, Was: a.address(), Is: b.address(),
		Culprit: a.ID, Victim: b.ID, Lines: s.lines(was, is),
		Says: fmt.Sprintf("%s (%s) became %s (%s)", a.address(), s.called(a), b.address(), s.called(b)),
	}
	if s.Events[was].At.IsZero() || s.Events[is].At.IsZero() {
		s.byTable(&v, a, b, was, is)
	} else {
		last := s.lastSeen(a)
		v.At, v.Until = s.Events[last].At, s.Events[s.begin(b)].At
		if v.Until.After(v.At) {
			v.Says += fmt.Sprintf(" between %s and %s", clock(v.At), clock(v.Until))
		}
		v.Lines = append(v.Lines, s.lines(last, s.begin(b))...)
	}
	if undone {
		return v
	}
	v.NotShown = append(v.NotShown, fmt.Sprintf("why: no line shows that %s was killed, stopped or deleted", a.name()))
	if a.add < 0 && b.add < 0 {
		v.NotShown = append(v.NotShown, "whether the CNI plugin was called: no line of an ADD or a DEL was read")
	}
	for i := s.begin(a); i <= is; i++ {
		if s.Events[i].Kind == PodWithoutInterface {
			v.NotShown = append(v.NotShown, fmt.Sprintf("who removed eth0, which the kubelet reported missing at %s", clock(s.Events[i].At)))
			v.Lines = append(v.Lines, s.lines(i)...)
		}
	}
	return v
}

// called names an instance, with a container of it where no sandbox is known.
func (s *Story) called(l *instance) string {
	for _, i := range l.events {
		if c := s.Events[i].Container; c != "" && l.ID == "" {
			return l.name() + ", container " + short(c)
		}
	}
	return l.name()
}

// showsAddress gives the first event that shows the instance's address, preferably one with a
// time; -1 if there is none.
func (s *Story) showsAddress(l *instance) int {
	found := -1
	for i := range s.Events {
		e := &s.Events[i]
		if e.Address != l.address() || e.Sandbox != l.ID && e.Sandbox != "" || e.UID != l.UID && e.UID != "" && l.UID != "" {
			continue
		}
		if !e.At.IsZero() {
			return i
		}
		if found < 0 {
			found = i
		}
	}
	return found
}

// lastSeen gives the instance's last event that has a time.
func (s *Story) lastSeen(l *instance) int {
	for _, i := range slices.Backward(l.events) {
		if !s.Events[i].At.IsZero() {
			return i
		}
	}
	return s.begin(l)
}

// delUndone reports whether the instance's DEL had failed when the next instance began (event
// until), and later succeeded never, or only by removing objects of another instance. It is false
// if the DEL may have succeeded: the last try is not known to have failed, or the endpoint of
// the pod name was deleted and no line shows by which sandbox.
func (s *Story) delUndone(l *instance, until int, instances []*instance) bool {
	fail := s.any(l, 0, failed...)
	if fail < 0 || fail > until || s.unattributed(l, fail, until, EndpointDeleted) {
		return false
	}
	last := max(fail, s.latest(l, until, DelBegin))
	if s.any(l, last, failed...) < 0 && !s.unattributed(l, last, until, failed...) {
		return false
	}
	return s.any(l, fail, DelEnd, DelStopped, SandboxStopped, EndpointDeleted) < 0 || s.firstVictim(l, fail, instances) != nil
}
