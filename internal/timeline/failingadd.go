package timeline

import (
	"fmt"
	"slices"

	"plumbline.dev/plumbline/internal/cnierror"
)

// fewAdds is how many ADDs in a row must fail for a verdict, if they did within briefly: calico-node
// restarts, and the kubelet tries again.
const fewAdds = 3

// failingAdds finds a pod whose ADDs failed in a row, over all its sandboxes: each has one of its own.
func failingAdds(s *Story, _ []*instance) []Verdict {
	var out []Verdict
	var row adds
	for i := range s.Events {
		switch e := &s.Events[i]; e.Kind {
		case AddFailed:
			row.take(i, e)
		case AddEnd, ContainerStarted, EndpointWritten:
			if e.Kind != ContainerStarted && s.failsAfter(i) {
				continue // Calico's part succeeded, and a plugin after it failed
			}
			if v, ok := s.failed(&row, i); ok {
				out = append(out, v)
			}
			row = adds{}
		default:
		}
	}
	if v, ok := s.failed(&row, -1); ok {
		out = append(out, v)
	}
	return out
}

// failsAfter reports whether the ADD of which event i is a part fails in the end.
func (s *Story) failsAfter(i int) bool {
	of := s.Events[i].Sandbox
	for j := range s.Events {
		e := &s.Events[j]
		if of == "" || e.Sandbox != of {
			continue
		}
		switch {
		case e.Kind == ContainerStarted:
			return false
		case e.Kind == AddFailed && (j > i || e.At.Equal(s.Events[i].At)):
			return true
		default:
		}
	}
	return false
}

// adds are ADDs that failed one after the other.
type adds struct {
	events    []int
	sandboxes []string // each once
	nameless  int      // failures whose line names no sandbox
}

func (a *adds) take(i int, e *Event) {
	a.events = append(a.events, i)
	switch {
	case e.Sandbox == "":
		a.nameless += max(1, e.Count)
	case !slices.Contains(a.sandboxes, e.Sandbox):
		a.sandboxes = append(a.sandboxes, e.Sandbox)
	}
}

// count is how many ADDs failed at least: lines with and without a sandbox may be of the same.
func (a *adds) count() int { return max(len(a.sandboxes), a.nameless) }

// failed judges ADDs that failed in a row, until event end, or -1 if none succeeded after.
func (s *Story) failed(a *adds, end int) (Verdict, bool) {
	if a.count() < 2 {
		return Verdict{}, false
	}
	first, last := &s.Events[a.events[0]], &s.Events[a.events[len(a.events)-1]]
	if a.count() < fewAdds && last.At.Sub(first.At) < briefly {
		return Verdict{}, false
	}
	when := ""
	if !first.At.IsZero() && !last.At.IsZero() {
		when = fmt.Sprintf(" from %s to %s", clock(first.At), clock(last.At))
	}
	v := Verdict{
		Cause: FailingAdd, Certainty: Proven, Node: last.Node, At: first.At, Until: last.At, Count: a.count(),
		Error: cnierror.OwnWords(last.Note), Lines: s.lines(a.events...),
		Says: fmt.Sprintf("%d ADDs failed one after the other%s%s", a.count(), when, because(last.Note)),
	}
	if end >= 0 {
		v.Says += "; the next succeeded"
		v.Lines = append(v.Lines, s.lines(end)...)
	}
	return v, true
}
