package timeline

import (
	"fmt"
	"slices"
	"time"
)

// goesOn is how long a file must go on before the lack of a line in it means something.
const goesOn = 2 * time.Minute

// unpaired finds sandboxes whose ADD was logged and whose DEL was not, though the file
// that has the one would have the other.
func unpaired(s *Story, lives []*life) []Verdict {
	var out []Verdict
	for n, a := range lives {
		if a.ID == "" || a.add < 0 || len(s.addPlaces(a)) == 0 || s.any(a, 0, delDid...) >= 0 || s.any(a, 0, failed...) >= 0 ||
			s.any(a, 0, SandboxStopped, SandboxRemoved) >= 0 {
			continue
		}
		b, until := s.follower(a, lives[n+1:]), len(s.Events)
		if b != nil {
			until = b.add
		}
		if s.byNobody(a, a.add, until, delDid...) {
			continue
		}
		gone := s.gone(a, b)
		switch {
		case b != nil && s.before(a.add, b.add) == certain && s.covers(a, s.Events[b.add].At.Add(goesOn)):
			out = append(out, Verdict{
				Cause: AddWithoutDel, Certainty: Likely, Node: a.Node, At: s.Events[b.add].At, Culprit: a.ID, Victim: b.ID,
				Says:     fmt.Sprintf("%s was followed by %s at %s without a DEL of its own", a.name(), b.name(), clock(s.Events[b.add].At)),
				NotShown: []string{fmt.Sprintf("whether what %s had is still held: no line frees it", a.name())},
				Lines:    s.lines(a.add, b.add),
			})
		case b == nil && gone >= 0 && s.covers(a, s.Events[gone].At.Add(goesOn)):
			out = append(out, Verdict{
				Cause: DelNeverCame, Certainty: Likely, Node: a.Node, At: s.Events[gone].At, Culprit: a.ID,
				Says:     fmt.Sprintf("the pod is gone since %s, and no DEL of %s came", clock(s.Events[gone].At), a.name()),
				NotShown: []string{"whether its address is still held: no line frees it"},
				Lines:    s.lines(a.add, gone),
			})
		}
	}
	return out
}

// addPlaces gives the lines of a life's ADD that stand where DELs stand too: each of them
// may be copied in another file.
func (s *Story) addPlaces(l *life) []Place {
	var out []Place
	for _, i := range l.events {
		switch e := &s.Events[i]; e.Kind {
		case AddBegin, AddEnd, AddressAssigned, EndpointWritten:
			if onNode(e.Source) && e.Source != "felix" {
				out = append(out, s.Places(i)...)
			}
		default:
		}
	}
	return slices.DeleteFunc(out, func(p Place) bool { return !s.cover.Dels[p.File] })
}

// covers tells whether a file that has a life's ADD goes on until a moment.
func (s *Story) covers(l *life, until time.Time) bool {
	return slices.ContainsFunc(s.addPlaces(l), func(p Place) bool {
		end, ok := s.cover.Ends[p.File]
		return ok && !end.Before(until)
	})
}

// byNobody tells whether some event between two is one of kinds that no line gives a
// sandbox, so that it may be the life's.
func (s *Story) byNobody(l *life, from, until int, kinds ...Kind) bool {
	for i := from; i < until; i++ {
		if e := &s.Events[i]; e.Sandbox == "" && agree(e.UID, l.UID) && agree(e.Node, l.Node) && slices.Contains(kinds, e.Kind) {
			return true
		}
	}
	return false
}

// follower gives the next life on the same node that had an ADD.
func (s *Story) follower(a *life, later []*life) *life {
	for _, b := range later {
		if b.ID != "" && b.add >= 0 && b.Node == a.Node && b.add > a.add {
			return b
		}
	}
	return nil
}

// gone gives the event by which the life's pod is no more, or -1.
func (s *Story) gone(a, b *life) int {
	for i := a.add; i < len(s.Events); i++ {
		e := &s.Events[i]
		if e.Kind == PodGone && b == nil && (e.UID == "" || e.UID == a.UID) && s.before(a.add, i) != unknown {
			return i
		}
	}
	return -1
}
