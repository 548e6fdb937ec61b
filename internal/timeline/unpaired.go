package timeline

import (
	"fmt"
	"slices"
	"time"
)

// goesOn is how long after an event a file must continue before the absence of a line in it
// counts.
const goesOn = 2 * time.Minute

// unpaired finds sandboxes whose ADD was logged and whose DEL was not, although the file that has
// the ADD would have the DEL: it contains other DELs and continues for goesOn. No verdict if
// any event shows a DEL or stop of the sandbox, tried or done, or could do so because no line
// gives its sandbox (unattributed).
func unpaired(s *Story, instances []*instance) []Verdict {
	var out []Verdict
	for n, a := range instances {
		if a.ID == "" || a.add < 0 || len(s.addPlaces(a)) == 0 || s.stopSeen(a) {
			continue
		}
		b, until := s.follower(a, instances[n+1:]), len(s.Events)
		if b != nil {
			until = b.add
		}
		if s.unattributed(a, a.add, until, delDid...) || s.shownApart(a, slices.Concat(delDid, failed, delEnded)...) {
			continue
		}
		gone := s.gone(a, b)
		switch {
		case b != nil && s.before(a.add, b.add) == certain && s.covers(a, s.Events[b.add].At.Add(goesOn)):
			out = append(out, Verdict{
				Cause: AddWithoutDel, Certainty: Likely, Node: a.Node, At: s.Events[b.add].At, Culprit: a.ID, Victim: b.ID,
				Says:     fmt.Sprintf("%s was followed by %s at %s without a DEL of its own", a.name(), b.name(), clock(s.Events[b.add].At)),
				NotShown: []string{fmt.Sprintf("whether the address of %s is still allocated: no line releases it", a.name())},
				Lines:    s.lines(a.add, b.add),
			})
		case b == nil && gone >= 0 && s.isLast(a, instances) && s.covers(a, s.Events[gone].At.Add(goesOn)):
			out = append(out, Verdict{
				Cause: DelNeverCame, Certainty: Likely, Node: a.Node, At: s.Events[gone].At, Culprit: a.ID,
				Says:     fmt.Sprintf("the pod is gone since %s, and no line shows a DEL of %s", clock(s.Events[gone].At), a.name()),
				NotShown: []string{"whether its address is still allocated: no line releases it"},
				Lines:    s.lines(a.add, gone),
			})
		}
	}
	return out
}

// stopSeen reports whether any event shows a DEL or a stop of the sandbox, tried or done.
func (s *Story) stopSeen(a *instance) bool {
	return s.any(a, 0, delDid...) >= 0 || s.any(a, 0, failed...) >= 0 || s.any(a, 0, SandboxStopped, SandboxRemoved) >= 0
}

// addPlaces gives the lines of the instance's ADD that are in files which also contain DELs. A
// line may have copies in other files.
func (s *Story) addPlaces(l *instance) []Place {
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

// covers reports whether a file with the instance's ADD (addPlaces) continues until a time.
func (s *Story) covers(l *instance, until time.Time) bool {
	return slices.ContainsFunc(s.addPlaces(l), func(p Place) bool {
		end, ok := s.cover.Ends[p.File]
		return ok && !end.Before(until)
	})
}

// unattributed reports whether an event of one of the kinds, from event from to before event
// until, has no sandbox and so may belong to the instance.
func (s *Story) unattributed(l *instance, from, until int, kinds ...Kind) bool {
	for i := from; i < until; i++ {
		if e := &s.Events[i]; e.Sandbox == "" && agree(e.UID, l.UID) && agree(e.Node, l.Node) && slices.Contains(kinds, e.Kind) {
			return true
		}
	}
	return false
}

// follower gives the next instance with an ADD on the same node, nil if there is none.
func (s *Story) follower(a *instance, later []*instance) *instance {
	for _, b := range later {
		if b.ID != "" && b.add >= 0 && b.Node == a.Node && b.add > a.add {
			return b
		}
	}
	return nil
}

// isLast reports whether every other sandbox with an ADD on the node was before a, as far as lines
// show: where a clock was set back or the zone of times is not known, one may have followed.
func (s *Story) isLast(a *instance, instances []*instance) bool {
	for _, b := range instances {
		if b != a && b.ID != "" && b.add >= 0 && b.Node == a.Node && s.before(b.add, a.add) == unknown {
			return false
		}
	}
	return !slices.ContainsFunc(s.apart, func(e Event) bool {
		return e.Sandbox != "" && e.Sandbox != a.ID && agree(e.Node, a.Node) && slices.Contains([]Kind{AddBegin, AddEnd, AddressAssigned, EndpointWritten}, e.Kind)
	})
}

// gone gives the event that shows that the instance's pod no longer exists, or -1. There is none
// if b, a later instance, has the name.
func (s *Story) gone(a, b *instance) int {
	for i := a.add; i < len(s.Events); i++ {
		e := &s.Events[i]
		if e.Kind == PodGone && b == nil && (e.UID == "" || e.UID == a.UID) && s.before(a.add, i) != unknown {
			return i
		}
	}
	return -1
}
