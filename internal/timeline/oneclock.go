package timeline

import (
	"fmt"
	"slices"
)

// oneClock removes the events whose zone is not known if there are others whose zone is: an order
// of both would be invented. It names what was removed.
func (l *Log) oneClock(events []Event) (kept []Event, left []string) {
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
		return events, nil
	}
	for file, n := range assumed {
		name := ""
		if int(file) < len(l.files) {
			name = l.files[file].Name
		}
		left = append(left, fmt.Sprintf("what %d lines of %s show: their times have no zone, unlike others; --tz tells it", n, name))
	}
	slices.Sort(left)
	return slices.DeleteFunc(slices.Clone(events), func(e Event) bool { return !e.At.IsZero() && e.Zone == ZoneAssumed }), left
}
