package timeline

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// briefly is how long a DEL may fail and then succeed without a word: servers restart.
const briefly = time.Minute

var (
	numbers = regexp.MustCompile(`[0-9a-f]{12,}|[0-9]+`)
	inTime  = regexp.MustCompile(`(?i)deadline ?exceeded|time(d )?out`)
)

// endlessDel finds sandboxes whose DEL fails again and again in the same way.
func endlessDel(s *Story, lives []*life) []Verdict {
	var out []Verdict
	for _, l := range lives {
		if l.ID == "" {
			continue
		}
		if v, ok := s.endless(l, lives); ok {
			out = append(out, v)
		}
	}
	return out
}

func (s *Story) endless(l *life, lives []*life) (Verdict, bool) {
	tries := s.failures(l)
	if len(tries) == 0 {
		return Verdict{}, false
	}
	begin, last := tries[0], tries[len(tries)-1]
	count := 0
	for _, i := range tries {
		count += max(1, s.Events[i].Count)
	}
	end := s.any(l, last+1, DelEnd, DelStopped, EndpointDeleted, SandboxStopped, SandboxRemoved)
	again := s.any(l, last+1, DelBegin, EndpointDeleted)
	robbed := s.firstRobbed(l, last, lives)
	since := s.Events[begin].At
	v := Verdict{
		Cause: EndlessDel, Certainty: Proven, Node: l.Node, At: since, Until: s.Events[last].At, Count: count, Culprit: l.ID,
		Error: cause(s.Events[last].Note), Lines: s.lines(tries...),
	}
	switch {
	case robbed != nil && again >= 0:
		v.Until, v.Victim = s.Events[again].At, robbed.ID
		v.Lines = append(v.Lines, s.lines(again)...)
		v.Says = fmt.Sprintf("the DEL of %s fails since %s, and ended at %s by taking what %s had", l.name(), clock(since), clock(v.Until), robbed.name())
	case end >= 0 && s.Events[end].At.Sub(since) < briefly, count < 2:
		return Verdict{}, false
	case end >= 0:
		v.Until = s.Events[end].At
		v.Says = fmt.Sprintf("the DEL of %s failed %d times from %s to %s", l.name(), count, clock(since), clock(v.Until))
	default:
		v.Says = fmt.Sprintf("the DEL of %s failed %d times since %s, last at %s; the next pod of that name there is its next victim",
			l.name(), count, clock(since), clock(v.Until))
	}
	if count < 2 {
		v.Certainty = Likely
		v.NotShown = append(v.NotShown, fmt.Sprintf("how often it failed between %s and %s: these lines hold one failure", clock(since), clock(v.Until)))
	}
	v.NotShown = append(v.NotShown, s.whoDeleted(l, begin)...)
	return v, true
}

// failures gives the failed attempts of a life's DEL that failed in the same way as the
// last of them, by the component that tells of most.
func (s *Story) failures(l *life) []int {
	groups := map[string][]int{}
	var best []int
	for _, i := range l.events {
		e := &s.Events[i]
		if e.Kind != DelFailed && e.Kind != SandboxStopFailed || inTime.MatchString(e.Note) || strings.Contains(e.Note, "code = NotFound") {
			continue
		}
		key := e.Kind.String() + numbers.ReplaceAllString(cause(e.Note), "#")
		groups[key] = append(groups[key], i)
		if len(groups[key]) > len(best) {
			best = groups[key]
		}
	}
	return best
}

// firstRobbed gives the life whose endpoint, handle or address the DEL took after event d.
func (s *Story) firstRobbed(l *life, d int, lives []*life) *life {
	for _, i := range l.events {
		if i > d {
			if b := s.robbed(l, i, lives); b != nil && s.takes(i, l, b) != "" {
				return b
			}
		}
	}
	return nil
}

// cause takes the wrapping off an error: the runtime and the kubelet each add words of
// their own in front.
func cause(note string) string {
	if i := strings.Index(note, "resource does not exist"); i >= 0 {
		return strings.TrimRight(note[i:], `"\ `)
	}
	return note
}

// whoDeleted says what is missing where a DEL fails for an endpoint that is gone already.
func (s *Story) whoDeleted(l *life, begin int) []string {
	if !strings.Contains(s.Events[begin].Note, "does not exist") && s.any(l, 0, EndpointMissing) < 0 {
		return nil
	}
	for i := range begin {
		if s.Events[i].Kind == EndpointDeleted {
			return nil
		}
	}
	return []string{fmt.Sprintf("who deleted the first endpoint: no line before %s was read that deletes it", clock(s.firstTime()))}
}
