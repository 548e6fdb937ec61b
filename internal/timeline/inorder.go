package timeline

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// backstep is how far timestamps may go back within one file while the order of its lines is
// still taken as the order of events: clocks are adjusted, and writers interleave. A larger step
// back is the start of another excerpt.
const backstep = 2 * time.Second

// timed is an event and the time by which it is sorted, which differs from Event.At where
// that is missing or less than backstep before the line above.
type timed struct {
	at int64
	e  Event
}

// inOrder sorts events by time; within one file line order wins over steps back of up to
// backstep. An event without a time is sorted after the last event above it in its file that
// has one, else before the first below it, and at the end if its file has no time at all.
func inOrder(events []Event) []timed {
	slices.SortStableFunc(events, func(a, b Event) int {
		return cmp.Or(cmp.Compare(a.Place.File, b.Place.File), cmp.Compare(a.Place.Line, b.Place.Line))
	})
	out := make([]timed, len(events))
	for i := 0; i < len(events); {
		n := i + 1
		for n < len(events) && events[n].Place.File == events[i].Place.File {
			n++
		}
		ofFile(events[i:n], out[i:n])
		i = n
	}
	slices.SortStableFunc(out, func(a, b timed) int { return cmp.Compare(a.at, b.at) })
	return out
}

// ofFile sets the times by which the events of one file are sorted.
func ofFile(events []Event, out []timed) {
	last, leading := int64(math.MaxInt64), 0 // number of events before the first that has a time
	for i, e := range events {
		out[i].e = e
		if !e.At.IsZero() {
			at := e.At.UnixNano()
			if i > leading && at < last && last-at <= int64(backstep) {
				at = last
			}
			last = at
		} else if leading == i {
			leading++
		}
		out[i].at = last
	}
	if leading < len(out) {
		for i := range leading {
			out[i].at = out[leading].at
		}
	}
}
