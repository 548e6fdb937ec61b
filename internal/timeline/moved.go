package timeline

import (
	"fmt"
	"net/netip"
	"slices"
)

// moved finds names whose address changed without an end of the first life: recreating a
// pod changes it too, but then lines say that the old one was killed and deleted.
func moved(s *Story, lives []*life) []Verdict {
	var addressed []*life
	for _, l := range lives {
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
		undone := s.delUndone(a, s.begin(b), lives)
		if was < 0 || is < 0 || !undone && s.tornDown(a, s.begin(b)) {
			continue
		}
		out = append(out, s.change(a, b, was, is, undone))
	}
	return out
}

func (s *Story) change(a, b *life, was, is int, undone bool) Verdict {
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
	v.NotShown = append(v.NotShown, fmt.Sprintf("why: no line kills, stops or deletes %s", a.name()))
	if a.add < 0 && b.add < 0 {
		v.NotShown = append(v.NotShown, "whether the CNI was asked: no line of an ADD or a DEL was read")
	}
	for i := s.begin(a); i <= is; i++ {
		if s.Events[i].Kind == PodWithoutInterface {
			v.NotShown = append(v.NotShown, fmt.Sprintf("who took eth0, which the kubelet missed at %s", clock(s.Events[i].At)))
			v.Lines = append(v.Lines, s.lines(i)...)
		}
	}
	return v
}

// called names a life, and a container of it where no sandbox is known.
func (s *Story) called(l *life) string {
	for _, i := range l.events {
		if c := s.Events[i].Container; c != "" && l.ID == "" {
			return l.name() + ", container " + short(c)
		}
	}
	return l.name()
}

// showsAddress gives the first event that says that the life had its address, one that
// has a time if there is any; -1 if there is none.
func (s *Story) showsAddress(l *life) int {
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

// lastSeen gives the last event with a time of a life.
func (s *Story) lastSeen(l *life) int {
	for _, i := range slices.Backward(l.events) {
		if !s.Events[i].At.IsZero() {
			return i
		}
	}
	return s.begin(l)
}

// delUndone tells whether the life's DEL had failed when the next life began, and never
// succeeded but by taking what was another's. It may have succeeded if the last try is not
// known to have failed, or if the name's endpoint was deleted and no line says by whom.
func (s *Story) delUndone(l *life, until int, lives []*life) bool {
	fail := s.any(l, 0, failed...)
	if fail < 0 || fail > until || s.byNobody(l, fail, until, EndpointDeleted) {
		return false
	}
	last := max(fail, s.latest(l, until, DelBegin))
	if s.any(l, last, failed...) < 0 && !s.byNobody(l, last, until, failed...) {
		return false
	}
	return s.any(l, fail, DelEnd, DelStopped, SandboxStopped, EndpointDeleted) < 0 || s.firstRobbed(l, fail, lives) != nil
}
