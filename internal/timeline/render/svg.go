package render

import (
	"fmt"
	"math"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/timeline"
)

// Width of a time on the axis, and of a duration between two.
const (
	timeRoom = 62.0
	gapRoom  = 76.0
	maxTicks = 400
)

// ticks puts as many times above the picture as fit, those of late DELs first, and the durations
// between them. The others are visible when the picture is zoomed in.
func (p *picture) ticks(a *axis, all []row, zone *time.Location) {
	var taken []float64
	free := func(x float64) bool {
		for _, t := range taken {
			if math.Abs(t-x) < timeRoom {
				return false
			}
		}
		taken = append(taken, x)
		return true
	}
	shown := map[float64]bool{}
	for i := range all {
		if all[i].lateDel != nil && free(a.rows[i]) {
			shown[a.rows[i]] = true
		}
	}
	var last time.Time
	for i, t := range a.times {
		if second := t.Truncate(time.Second); !t.IsZero() && !second.Equal(last) && len(p.Ticks) < maxTicks {
			last = second
			p.Ticks = append(p.Ticks, tick{X: a.x[i], Label: t.In(zone).Format(time.TimeOnly), at: t, Off: !shown[a.x[i]] && !free(a.x[i])})
		}
	}
	var before *tick
	for i := range p.Ticks {
		t := &p.Ticks[i]
		if t.Off {
			continue
		}
		if before != nil && t.X-before.X > timeRoom+gapRoom {
			p.Gaps = append(p.Gaps, tick{X: (t.X + before.X) / 2, Label: lasted(t.at.Sub(before.at))})
		}
		before = t
	}
}

// lanes draws each sandbox's bar from its ADD to its DEL. Without an ADD it begins at the
// sandbox's first event, without a DEL it has no end; after a loss it is hatched.
func (p *picture) lanes(l *lanes, all []row, a *axis, top float64, withNode bool) {
	marks := laneMarksOf(l, all, a)
	for i := range l.all {
		box := &l.all[i]
		d := drawnLane{Y: top + laneHeight*float64(i), Title: box.title, Of: describeLane(box, withNode), AddKnown: !box.Added.IsZero(), Open: box.Deleted.IsZero()}
		d.Bar, d.X = d.Y+barTop, plotLeft
		if x, ok := marks.first[i]; ok {
			d.X = x
		} else if d.AddKnown {
			d.X = a.at(box.Added)
		}
		end := pictureWidth - 8
		if !d.Open {
			end = a.at(box.Deleted)
			if x, ok := marks.deleted[i]; ok && x > d.X {
				end = x
			}
		}
		d.W = max(2, end-d.X)
		if x, ok := marks.lost[i]; ok && x < end {
			d.HasLost, d.LostX, d.LostW = true, x, end-x
			d.Without = marks.without[i]
		}
		p.Lanes = append(p.Lanes, d)
	}
}

// laneMarks are the places on the axis where a lane's bar changes, by lane, and what it has lost.
type laneMarks struct {
	first   map[int]float64 // its ADD, else its first row
	deleted map[int]float64 // its last DEL
	lost    map[int]float64 // its first loss by a late DEL
	without map[int]string
}

func laneMarksOf(l *lanes, all []row, a *axis) laneMarks {
	m := laneMarks{first: map[int]float64{}, deleted: map[int]float64{}, lost: map[int]float64{}, without: map[int]string{}}
	for i := range all {
		r := &all[i]
		if _, ok := m.first[r.lane]; !ok || r.kind == timeline.AddEnd && l.at(r.lane).Added.Equal(r.at) {
			m.first[r.lane] = a.rows[i]
		}
		if r.kind == timeline.DelEnd {
			m.deleted[r.lane] = a.rows[i]
		}
		if r.lateDel == nil {
			continue
		}
		if _, ok := m.lost[r.lateDel.victim]; !ok {
			m.lost[r.lateDel.victim] = a.rows[i]
			m.without[r.lateDel.victim] = cutRight("without "+strings.TrimSuffix(r.lateDel.lost, " deleted"), 24)
		}
	}
	return m
}

// at gives the sandbox of a lane; that of noLane is empty.
func (l *lanes) at(n int) *timeline.Sandbox {
	if n < 0 || n >= len(l.all) {
		return &timeline.Sandbox{}
	}
	return l.all[n].Sandbox
}

func describeLane(box *lane, withNode bool) string {
	var words []string
	for _, a := range box.Addresses[:min(len(box.Addresses), 2)] {
		words = append(words, clean(a.String()))
	}
	if box.UID != "" {
		words = append(words, "uid "+short(box.UID))
	}
	if withNode && box.Node != "" {
		words = append(words, "on "+cutRight(clean(box.Node), 40))
	}
	return strings.Join(words, " · ")
}

// lateDel draws a late DEL as an arrow between two bars.
func (p *picture) lateDel(r *row, x, from, to float64, title string) {
	b := drawnLateDel{X: x, From: from, Y1: from + barHeight/2 + 3, Y2: to - barHeight/2 - 5, Title: title, Row: inTable(r.event)}
	if to < from {
		b.Y1, b.Y2 = from-barHeight/2-3, to+barHeight/2+5
	}
	b.LabelY = (b.Y1+b.Y2)/2 + 4
	p.LateDels = append(p.LateDels, b)
}

// describe gives the text alternative of the picture.
func describe(s *timeline.Story, l *lanes) string {
	words := []string{fmt.Sprintf("Time runs from left to right; one lane for each of %d sandboxes.", len(l.all))}
	for i := range s.Verdicts {
		if s.Verdicts[i].Cause != timeline.Credential {
			words = append(words, verdictSays(&s.Verdicts[i])+".")
		}
	}
	return strings.Join(words, " ")
}
