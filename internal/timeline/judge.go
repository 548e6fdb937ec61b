package timeline

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Judge sets a story's verdicts, the most urgent cause first (rank), and adds to NotShown what
// its lines cannot show. Each judge decides alone; none depends on the result of another.
func Judge(s *Story) {
	instances := s.instances()
	s.Verdicts = nil
	for _, judge := range []func(*Story, []*instance) []Verdict{
		lateDel, lateInside, retriedDels, failingAdds, moved, unpaired, blocked, releasedByGC, staleNodename, credentials,
	} {
		s.Verdicts = append(s.Verdicts, judge(s, instances)...)
	}
	for i := range s.Verdicts {
		v := &s.Verdicts[i]
		v.Pod = s.Pod
		v.Lines = tidy(v.Lines)
	}
	slices.SortStableFunc(s.Verdicts, func(a, b Verdict) int { return cmp.Compare(rank(a.Cause), rank(b.Cause)) })
	s.Unexplained = unexplained(s, instances)
	for _, u := range s.Unexplained {
		s.NotShown = append(s.NotShown, u.Says)
	}
}

// JudgeAll evaluates every story of the log, its addresses, listings and nodes. It returns all verdicts and what no line explains, in
// order of time, and how many pods the log reports.
func JudgeAll(l *Log) (verdicts []Verdict, open []Unexplained, pods int) {
	verdicts = slices.Concat(JudgeAddresses(l), JudgeListings(l), JudgeNodes(l))
	l.Stories(func(s *Story) bool {
		pods++
		Judge(s)
		verdicts = append(verdicts, s.Verdicts...)
		open = append(open, s.Unexplained...)
		return true
	})
	slices.SortStableFunc(verdicts, func(a, b Verdict) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Pod, b.Pod)) })
	slices.SortStableFunc(open, func(a, b Unexplained) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Pod, b.Pod)) })
	return verdicts, open, pods
}

// rank orders causes by what a person on call needs first.
func rank(c Cause) int {
	return slices.Index([]Cause{
		DuplicateAddress, LateDel, ReleasedInUse, FailingAdd, NoGateway, RetriedDel, TeardownBlocked, StaleNodename, AddressMoved, AddWithoutDel, DelNeverCame, LegacyHandle, Credential,
	}, c)
}

// lines gives all lines that report the events; negative numbers are skipped.
func (s *Story) lines(events ...int) []Place {
	var out []Place
	for _, i := range events {
		if i >= 0 {
			out = append(out, s.Places(i)...)
		}
	}
	return out
}

// tidy sorts lines and removes duplicates.
func tidy(lines []Place) []Place {
	slices.SortFunc(lines, func(a, b Place) int { return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line)) })
	return slices.Compact(lines)
}

// clock formats a time of day, in the zone of the story.
func clock(t time.Time) string {
	if t.IsZero() {
		return "an unknown time"
	}
	return t.Format("15:04:05")
}

// lasted formats a duration: tenths of a second below 10 s, else seconds.
func lasted(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	default:
		return d.Round(time.Second).String()
	}
}

// and joins words: a, b and c.
func and(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}
