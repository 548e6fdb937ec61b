package render

import (
	"slices"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/timeline"
)

// A row is one or more events of one lane at one time.
type row struct {
	at, last time.Time // last is the time of the last of several events
	lane     int
	said     string
	reason   string // message of the component
	count    int
	kind     timeline.Kind // of its first event
	node     string
	places   []timeline.Place
	event    int // the number of the first of its events, or -1
	lateDel  *lateDel
}

// A lateDel is what a late DEL removed, and from which lane.
type lateDel struct {
	victim int
	lost   string
}

// fit gives a shorter text of what was lost, if the width requires it.
func (b *lateDel) fit(width int) string {
	if cells(b.lost) <= width {
		return b.lost
	}
	return strings.TrimSuffix(b.lost, " deleted") + " lost"
}

type rowKey struct {
	lane               int
	kind               timeline.Kind
	node, said, reason string
}

// rows gives a story's rows in order: late DELs as one row each, repeated events as one row with
// a count, and the events of one lane within a second in one row, if they have fewer than most
// columns.
func rows(s *timeline.Story, l *lanes, most int) []row {
	lateDels, taken := lateDelRows(s, l)
	var out []row
	seen := map[rowKey]int{}
	var now time.Time
	for i := range s.Events {
		e := &s.Events[i]
		if !e.At.IsZero() {
			now = e.At
		}
		for len(lateDels) > 0 && lateDels[0].at.Before(now.Truncate(time.Second)) {
			out, lateDels = append(out, lateDels[0]), lateDels[1:]
			clear(seen)
		}
		if notShown.has(e.Kind) || taken[e.Place] && removes.has(e.Kind) {
			continue
		}
		r := row{at: e.At, last: e.At, lane: l.event(e), said: say(e), reason: reason(e), count: max(1, e.Count), kind: e.Kind, node: e.Node, places: linesOf(s, i), event: i}
		if endsCount.has(e.Kind) {
			clear(seen)
		}
		key := rowKey{r.lane, r.kind, r.node, r.said, r.reason}
		if first, ok := seen[key]; ok {
			out[first].again(&r)
			continue
		}
		seen[key] = len(out)
		out = append(out, r)
	}
	return together(withoutBegins(append(out, lateDels...)), most)
}

// again adds a repeated event.
func (r *row) again(e *row) {
	r.count += e.count
	if e.at.After(r.last) {
		r.last = e.at
	}
	if !slices.Contains(r.places, e.places[0]) && len(r.places) < maxPlaces {
		r.places = append(r.places, e.places[0])
	}
}

// maxPlaces bounds the lines that one row names.
const maxPlaces = 16

// withoutBegins removes the begin of an ADD or DEL whose end is in the same lane at most a minute
// later.
func withoutBegins(all []row) []row {
	ends := map[int]time.Time{} // by lane, time of the next end
	keep := make([]bool, len(all))
	for i := len(all) - 1; i >= 0; i-- {
		r := &all[i]
		switch r.kind {
		case timeline.AddEnd, timeline.AddFailed, timeline.DelEnd, timeline.DelFailed, timeline.DelStopped:
			ends[r.lane] = r.at
		case timeline.AddBegin, timeline.DelBegin:
			end, ok := ends[r.lane]
			keep[i] = !ok || end.Sub(r.at) > time.Minute
			continue
		default:
		}
		keep[i] = true
	}
	out := all[:0]
	for i := range all {
		if keep[i] {
			out = append(out, all[i])
		}
	}
	return out
}

// together joins the events of one lane within one second.
func together(all []row, most int) []row {
	var out []row
	for _, r := range all {
		if n := len(out); n > 0 && !r.at.IsZero() {
			o := &out[n-1]
			same := o.lane == r.lane && o.node == r.node && o.at.Truncate(time.Second).Equal(r.at.Truncate(time.Second))
			if same && o.lateDel == nil && r.lateDel == nil && o.count == 1 && r.count == 1 && o.reason == "" && r.reason == "" && cells(o.said)+cells(r.said) < most-gap {
				o.said += ", " + r.said
				o.places = append(o.places, r.places...)
				if weight(r.kind) > weight(o.kind) {
					o.kind = r.kind
				}
				continue
			}
		}
		out = append(out, r)
	}
	return out
}

// weight decides which kind a joined row has.
func weight(k timeline.Kind) int {
	switch {
	case k == timeline.DelEnd || k == timeline.AddEnd:
		return 3
	case withReason.has(k):
		return 2
	case endsCount.has(k):
		return 1
	}
	return 0
}

// linesOf gives the lines that report an event.
func linesOf(s *timeline.Story, event int) []timeline.Place {
	return append([]timeline.Place{s.Events[event].Place}, s.Also[event]...)
}

// sameCall is the longest time between the steps of one DEL.
const sameCall = 2 * time.Second

// lateDelRows gives a row for each late DEL, and the lines that it replaces.
func lateDelRows(s *timeline.Story, l *lanes) ([]row, map[timeline.Place]bool) {
	var out []row
	taken := map[timeline.Place]bool{}
	for i := range s.Verdicts {
		v := &s.Verdicts[i]
		from, to := l.sandbox(v.Culprit), l.sandbox(v.Victim)
		if v.Cause != timeline.LateDel || from == noLane || to == noLane || from == to {
			continue
		}
		r := row{at: v.At, last: v.At, lane: from, said: "DEL", count: max(1, v.Count), kind: timeline.DelEnd, node: v.Node, event: -1, lateDel: &lateDel{to, lost(v)}}
		r.takeEvents(s, v, l, taken)
		out = append(out, r)
	}
	slices.SortStableFunc(out, func(a, b row) int { return a.at.Compare(b.at) })
	return out, taken
}

// takeEvents adds the lines of the late DEL to its row: those that the verdict names and those
// of the same call, but none of the victim's own. It adds them to taken.
func (r *row) takeEvents(s *timeline.Story, v *timeline.Verdict, l *lanes, taken map[timeline.Place]bool) {
	for j := range s.Events {
		e := &s.Events[j]
		own := l.event(e)
		near := own == r.lane && e.At.Sub(v.At).Abs() < sameCall
		if !removes.has(e.Kind) || own == r.lateDel.victim || !near && !slices.Contains(v.Lines, e.Place) {
			continue
		}
		taken[e.Place] = true
		if r.event < 0 {
			r.event = j
		}
		if e.Kind != timeline.DelBegin && e.Kind != timeline.DelEnd {
			r.places = append(r.places, linesOf(s, j)...)
		}
	}
	r.places = r.places[:min(len(r.places), maxPlaces)]
	if len(r.places) == 0 && len(v.Lines) > 0 {
		r.places = v.Lines[len(v.Lines)-1:]
	}
}

// lost names what a sandbox lost.
func lost(v *timeline.Verdict) string {
	var sorts []string
	for _, what := range v.Lost {
		sort, _, _ := strings.Cut(strings.TrimSpace(what), " ")
		if sort = clean(sort); sort != "" && !slices.Contains(sorts, sort) {
			sorts = append(sorts, sort)
		}
	}
	if len(sorts) == 0 {
		return "network deleted"
	}
	return cutRight(strings.Join(sorts, ", ")+" deleted", maxSaid)
}
