package timeline

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/cnierror"
)

// briefly is how long a DEL may fail before it succeeds without a verdict: API servers restart.
const briefly = time.Minute

var (
	numbers = regexp.MustCompile(`[0-9a-f]{12,}|[0-9]+`)
	inTime  = regexp.MustCompile(`(?i)deadline ?exceeded|time(d )?out`)
)

// retriedDels finds sandboxes whose DEL fails repeatedly with the same error.
func retriedDels(s *Story, instances []*instance) []Verdict {
	var out []Verdict
	for _, l := range instances {
		if l.ID == "" {
			continue
		}
		if v, ok := s.retried(l, instances); ok {
			out = append(out, v)
		}
	}
	return out
}

// retried judges the failed DELs of instance l. There is a verdict if
//   - a later DEL of l removed objects of another instance (after one failure: likely), or
//   - it failed at least twice and no line shows that it succeeded within briefly, nor may show it.
func (s *Story) retried(l *instance, instances []*instance) (Verdict, bool) {
	tries := s.failures(l)
	if len(tries) == 0 {
		return Verdict{}, false
	}
	begin, last := tries[0], tries[len(tries)-1]
	count := 0
	for _, i := range tries {
		count += max(1, s.Events[i].Count)
	}
	end := s.any(l, last+1, delEnded...)
	again := s.any(l, last+1, DelBegin, EndpointDeleted)
	victim := s.firstVictim(l, last, instances)
	since := s.Events[begin].At
	v := Verdict{
		Cause: RetriedDel, Certainty: Proven, Node: l.Node, At: since, Until: s.Events[last].At, Count: count, Culprit: l.ID,
		Error: cnierror.OwnWords(s.Events[last].Note), Lines: s.lines(tries...),
	}
	switch {
	case victim != nil && again >= 0:
		v.Until, v.Victim = s.Events[again].At, victim.ID
		v.Lines = append(v.Lines, s.lines(again)...)
		v.Says = fmt.Sprintf("the DEL of %s fails since %s; at %s it removed what belonged to %s", l.name(), clock(since), clock(v.Until), victim.name())
	case end >= 0 && s.Events[end].At.Sub(since) < briefly, count < 2, s.shownApart(l, delEnded...):
		return Verdict{}, false
	case end >= 0:
		v.Until = s.Events[end].At
		v.Says = fmt.Sprintf("the DEL of %s failed %d times from %s to %s%s", l.name(), count, clock(since), clock(v.Until), because(v.Error))
	default:
		v.Says = fmt.Sprintf("the DEL of %s failed %d times%s%s", l.name(), count, sinceUntil(since, v.Until), because(v.Error))
	}
	if count < 2 {
		v.Certainty = Likely
		v.NotShown = append(v.NotShown, fmt.Sprintf("how often it failed between %s and %s: these lines contain one failure", clock(since), clock(v.Until)))
	}
	v.NotShown = append(v.NotShown, s.whoDeleted(l, begin)...)
	return v, true
}

// failedDel reports whether an event is a DEL that failed. Timeouts of the runtime and errors with
// code NotFound do not count: the first are judged by blocked, the second mean that nothing is left
// to delete.
func failedDel(e *Event) bool {
	ofPlugin := ofPlugin(e.Note)
	switch e.Kind {
	case DelFailed, SandboxStopFailed:
	case PodKillFailed:
		if !ofPlugin {
			return false
		}
	default:
		return false
	}
	return (ofPlugin || !inTime.MatchString(e.Note)) && !strings.Contains(e.Note, "code = NotFound")
}

// failures gives the failed DELs of an instance, of one component and with one error (numbers
// and IDs ignored): the largest such group.
func (s *Story) failures(l *instance) []int {
	groups := map[string][]int{}
	var best []int
	for _, i := range l.events {
		e := &s.Events[i]
		if !failedDel(e) {
			continue
		}
		key := e.Kind.String() + numbers.ReplaceAllString(cnierror.OwnWords(e.Note), "#")
		groups[key] = append(groups[key], i)
		if len(groups[key]) > len(best) {
			best = groups[key]
		}
	}
	return best
}

// firstVictim gives the first other instance of which an event of l after event d removed the
// endpoint, handle or address; nil if there is none.
func (s *Story) firstVictim(l *instance, d int, instances []*instance) *instance {
	for _, i := range l.events {
		if i > d {
			if b := s.holderAt(l, i, instances); b != nil && s.takes(i, l, b) != "" {
				return b
			}
		}
	}
	return nil
}

// whoDeleted gives what these lines do not show of a DEL that fails because its endpoint is
// already deleted.
func (s *Story) whoDeleted(l *instance, begin int) []string {
	if !strings.Contains(s.Events[begin].Note, "does not exist") && s.any(l, 0, EndpointMissing) < 0 {
		return nil
	}
	for i := range begin {
		if s.Events[i].Kind == EndpointDeleted {
			return nil
		}
	}
	return []string{fmt.Sprintf("who deleted the first endpoint: no line before %s was read that shows it", clock(s.firstTime()))}
}

// sinceUntil says when something that has not ended was seen first and last; nothing if no line shows it.
func sinceUntil(since, last time.Time) string {
	if since.IsZero() || last.IsZero() {
		return ""
	}
	return fmt.Sprintf(" since %s, last at %s", clock(since), clock(last))
}
