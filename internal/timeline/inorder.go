package timeline

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// backstep is how far stamps may run backwards in one file while its order of lines is
// still the order of events: clocks are set, and writers overtake each other. Further
// back begins another excerpt.
const backstep = 2 * time.Second

// timed is an event and when it counts as having happened.
type timed struct {
	at int64
	e  Event
}

// inOrder sorts by time, lines of one file by line where their stamps almost agree. An
// event without time stands with its neighbours in its file: behind the last before it
// that has one, else before the first behind it; at the end if the file has none at all.
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

// ofFile finds out when the events of one file count as having happened.
func ofFile(events []Event, out []timed) {
	last, leading := int64(math.MaxInt64), 0 // how many have none before the first that has
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
