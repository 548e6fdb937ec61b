package timeline

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Judge fills in a story's verdicts, in order of time, and what its lines do not show.
func Judge(s *Story) {
	lives := s.lives()
	s.Verdicts = nil
	for _, judge := range []func(*Story, []*life) []Verdict{
		lateDel, lateInside, endlessDel, moved, unpaired, blocked, collected, staleNodename, credentials,
	} {
		s.Verdicts = append(s.Verdicts, judge(s, lives)...)
	}
	for i := range s.Verdicts {
		v := &s.Verdicts[i]
		v.Pod = s.Pod
		v.Lines = tidy(v.Lines)
	}
	slices.SortStableFunc(s.Verdicts, func(a, b Verdict) int { return cmp.Compare(rank(a.Cause), rank(b.Cause)) })
}

// rank puts what a person on call needs first to the top.
func rank(c Cause) int {
	return slices.Index([]Cause{
		LateDel, ReleasedInUse, EndlessDel, TeardownBlocked, StaleNodename, AddressMoved, AddWithoutDel, DelNeverCame, Credential,
	}, c)
}

// lines gives all lines that tell the events.
func (s *Story) lines(events ...int) []Place {
	var out []Place
	for _, i := range events {
		if i >= 0 {
			out = append(out, s.Places(i)...)
		}
	}
	return out
}

// tidy orders lines and names each once.
func tidy(lines []Place) []Place {
	slices.SortFunc(lines, func(a, b Place) int { return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line)) })
	return slices.Compact(lines)
}

// clock is a moment as a person reads it beside the others of the same day.
func clock(t time.Time) string {
	if t.IsZero() {
		return "an unknown time"
	}
	return t.Format("15:04:05")
}

// lasted says how long something took, no finer than a person needs it.
func lasted(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	default:
		return d.Round(time.Second).String()
	}
}

// and joins words as a sentence does.
func and(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}
