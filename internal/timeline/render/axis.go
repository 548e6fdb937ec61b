package render

import (
	"math"
	"slices"
	"time"
)

// Measures of the picture, in pixels at its full width.
const (
	pictureWidth = 1160.0
	plotLeft     = 40.0
	plotRight    = pictureWidth - 190 // bars of sandboxes that were not deleted continue to the edge
	leastStep    = 20.0               // between two marks of one lane
	leastGap     = 6.0                // between two times
)

// An axis gives the x position of a time. It is not to scale, because logs have seconds with many
// lines and hours without any: the width of a gap is its logarithm, and its label has its true
// length. Invariant: a later time is never further left.
type axis struct {
	times []time.Time
	x     []float64
	rows  []float64 // x of each row
}

// A stop is a position on the axis: a row, or the last of several events that a row stands for.
type stop struct {
	at   time.Time
	row  int // or -1
	lane int
	x    float64
}

func newAxis(all []row, lanes []lane) *axis {
	var stops []stop
	var now time.Time
	for i := range all {
		if !all[i].at.IsZero() {
			now = all[i].at
		}
		stops = append(stops, stop{at: now, row: i, lane: all[i].lane})
		if all[i].last.After(all[i].at) {
			stops = append(stops, stop{at: all[i].last, row: -1, lane: all[i].lane})
		}
	}
	for i := range lanes {
		for _, t := range []time.Time{lanes[i].Added, lanes[i].Deleted} {
			if !t.IsZero() {
				stops = append(stops, stop{at: t, row: -1, lane: noLane})
			}
		}
	}
	slices.SortStableFunc(stops, func(a, b stop) int { return a.at.Compare(b.at) })
	place(stops)
	a := &axis{rows: make([]float64, len(all))}
	for _, s := range stops {
		a.times, a.x = append(a.times, s.at), append(a.x, s.x)
		if s.row >= 0 {
			a.rows[s.row] = s.x
		}
	}
	return a
}

// place sets x of all stops: each has its least distance from the ones before, and the rest of
// the width is divided among the gaps by the logarithm of their length.
func place(stops []stop) {
	least := make([]float64, len(stops))
	gaps := make([]float64, len(stops))
	lastIn := map[int]float64{} // by lane, x of its last mark without stretching
	var at, total float64
	for i := range stops {
		if i > 0 {
			if d := stops[i].at.Sub(stops[i-1].at); d > 0 {
				gaps[i] = math.Log2(1 + d.Seconds())
				least[i] = leastGap
			}
		}
		if last, ok := lastIn[stops[i].lane]; ok && stops[i].row >= 0 {
			least[i] = max(least[i], last+leastStep-at)
		}
		at += least[i]
		total += gaps[i]
		if stops[i].row >= 0 {
			lastIn[stops[i].lane] = at
		}
	}
	room := plotRight - plotLeft
	stretch, shrink := 0.0, 1.0
	switch {
	case at > room*0.8:
		shrink = room * 0.8 / at
		fallthrough
	default:
		if total > 0 {
			stretch = (room - at*shrink) / total
		}
	}
	x := plotLeft
	for i := range stops {
		x += least[i]*shrink + gaps[i]*stretch
		stops[i].x = x
	}
}

// at gives the x of a time, interpolated between the stops around it.
func (a *axis) at(t time.Time) float64 {
	if len(a.times) == 0 {
		return plotLeft
	}
	i, found := slices.BinarySearchFunc(a.times, t, time.Time.Compare)
	switch {
	case found:
		return a.x[i]
	case i == 0:
		return a.x[0]
	case i == len(a.times):
		return a.x[i-1]
	}
	part := t.Sub(a.times[i-1]).Seconds() / a.times[i].Sub(a.times[i-1]).Seconds()
	return a.x[i-1] + part*(a.x[i]-a.x[i-1])
}
