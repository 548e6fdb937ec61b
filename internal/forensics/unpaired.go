package forensics

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
		if a.ID == "" || a.add < 0 || !s.tellsDels(a.add) || s.any(a, 0, delDid...) >= 0 || s.any(a, 0, failed...) >= 0 ||
			s.any(a, 0, SandboxStopped, SandboxRemoved) >= 0 {
			continue
		}
		b := s.follower(a, lives[n+1:])
		gone := s.gone(a, b)
		switch {
		case b != nil && s.before(a.add, b.add) == certain && s.covers(a.add, s.Events[b.add].At.Add(goesOn)):
			out = append(out, Verdict{
				Cause: AddWithoutDel, Certainty: Likely, Node: a.Node, At: s.Events[b.add].At, Culprit: a.ID, Victim: b.ID,
				Says:     fmt.Sprintf("%s was followed by %s at %s without a DEL of its own", a.name(), b.name(), clock(s.Events[b.add].At)),
				NotShown: []string{fmt.Sprintf("whether what %s had is still held: no line frees it", a.name())},
				Lines:    s.lines(a.add, b.add),
			})
		case b == nil && gone >= 0 && s.covers(a.add, s.Events[gone].At.Add(goesOn)):
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

// tellsDels tells whether an ADD stands where DELs stand too.
func (s *Story) tellsDels(add int) bool {
	switch s.Events[add].Source {
	case "audit", "controllers", "events", "felix":
		return false
	}
	return slices.ContainsFunc(s.Places(add), func(p Place) bool { return s.cover.Dels[p.File] })
}

// covers tells whether the file that has an event goes on until a moment.
func (s *Story) covers(event int, until time.Time) bool {
	return slices.ContainsFunc(s.Places(event), func(p Place) bool {
		end, ok := s.cover.Ends[p.File]
		return ok && s.cover.Dels[p.File] && !end.Before(until)
	})
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
