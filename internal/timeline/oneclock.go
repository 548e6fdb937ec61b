package timeline

import (
	"fmt"
	"slices"
)

// oneClock parts the events whose zone is not known from those whose zone is, if there are both: an
// order of both would be invented. It names what was parted.
func (l *Log) oneClock(events []Event) (kept, apart []Event, left []string) {
	known, assumed := false, map[uint16]int{}
	for i := range events {
		switch e := &events[i]; {
		case e.At.IsZero():
		case e.Zone == ZoneAssumed:
			assumed[e.Place.File]++
		default:
			known = true
		}
	}
	if !known || len(assumed) == 0 {
		return events, nil, nil
	}
	for file, n := range assumed {
		name := ""
		if int(file) < len(l.files) {
			name = l.files[file].Name
		}
		left = append(left, fmt.Sprintf("what %d lines of %s show: their times have no zone, unlike others; --tz tells it", n, name))
	}
	slices.Sort(left)
	for i := range events {
		if e := &events[i]; !e.At.IsZero() && e.Zone == ZoneAssumed {
			apart = append(apart, *e)
		} else {
			kept = append(kept, *e)
		}
	}
	return kept, apart, left
}

// shownApart reports whether an event that was parted, of one of the kinds, is or may be of the
// instance: where a verdict rests on the absence of a line, it must not be among these either.
func (s *Story) shownApart(l *instance, kinds ...Kind) bool {
	return slices.ContainsFunc(s.apart, func(e Event) bool {
		return slices.Contains(kinds, e.Kind) && agree(e.Sandbox, l.ID) && agree(e.UID, l.UID) && agree(e.Node, l.Node)
	})
}
