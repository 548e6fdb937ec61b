package guard

import (
	"fmt"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/guard"
	"plumbline.dev/plumbline/internal/plain"
)

// notShown says what the calls cannot tell.
func (s *saidCalls) notShown() []string {
	out := unreadNodes(s.unread)
	if without := s.withoutAdd(); len(without) > 0 {
		out = append(out, fmt.Sprintf("the ADD of %s: it ran before the guard was installed, bypassed it, or is older than the event log", plain.FewOf(without)))
	}
	if queued := s.queued(); len(queued) > 0 {
		out = append(out, fmt.Sprintf("whether the queued DEL of %s was run: no later call shows it", plain.FewOf(queued)))
	}
	if slices.ContainsFunc(s.calls, func(c namedCall) bool { return c.Late && c.Called }) {
		out = append(out, "Calico's datastore after a late DEL: the guard checks only interface, address and route of the newer sandbox")
	}
	if s.calls[0].Pod != "" {
		out = append(out, "a late DEL from another node: each guard has records only of its own node")
	}
	return out
}

// withoutAdd gives the sandboxes of which a call comes before any ADD.
func (s *saidCalls) withoutAdd() []string {
	var out []string
	added := map[string]bool{}
	for i := range s.calls {
		c := &s.calls[i]
		id := plain.ShortID(c.Container)
		switch {
		case c.Verb == guard.Add:
			added[id] = true
		case !added[id] && id != "" && !slices.Contains(out, id):
			out = append(out, id)
		}
	}
	return out
}

// queued gives the sandboxes with a queued DEL that no later call has run.
func (s *saidCalls) queued() []string {
	var out []string
	for i := range s.calls {
		c := &s.calls[i]
		id := plain.ShortID(c.Container)
		if (c.Verb == guard.Del || c.Verb == guard.Replayed) && c.Called && c.Code == 0 {
			out = slices.DeleteFunc(out, func(q string) bool { return q == id })
		}
		if stillQueued(c) && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// stillQueued tells whether a call left a DEL in the queue, by the guard's own words.
func stillQueued(c *namedCall) bool {
	settled := slices.Contains(c.Did, guard.DidRelease) ||
		slices.Contains(c.Did, guard.DidCleanUp) && !strings.Contains(c.Error, "did not answer in time")
	return slices.Contains(c.Did, guard.DidQueue) && !settled
}
