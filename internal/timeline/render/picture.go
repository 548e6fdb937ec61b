package render

import (
	"fmt"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/timeline"
)

// A picture is the data of the SVG. Numbers are in pixels at full width; texts are cleaned, and
// escaped by the template.
type picture struct {
	Width, Height, Left, Right, AxisY float64
	Desc                              string
	Ticks                             []tick
	Gaps                              []tick
	Lanes                             []drawnLane
	Marks                             []mark
	LateDels                          []drawnLateDel
	Nodes                             []mark // without a lane
	NotDrawn                          int    // marks
}

type tick struct {
	X     float64
	Label string
	Off   bool // hidden, there is no room for it
	at    time.Time
}

type drawnLane struct {
	Y, Bar, X, W   float64
	Title, Of      string
	Open, AddKnown bool // no DEL is known; its ADD is known
	HasLost        bool // it lost something, at LostX
	LostX, LostW   float64
	Without        string
}

type mark struct {
	X, Y  float64
	Class string // shape and color
	Label string
	Tip   string
	Row   int // of the table, or -1
	Lane  int
	SpanW float64 // width of a mark that lasts
	Slot  int     // row of labels: 0 above the bar, 1 below, -1 none
}

type drawnLateDel struct {
	X, From, Y1, Y2, LabelY float64
	Title                   string
	Row                     int
}

const (
	axisHeight = 52.0
	laneHeight = 104.0
	barTop     = 52.0 // in its lane
	barHeight  = 14.0
	maxMarks   = 2000
	charWidth  = 6.4 // of a label
)

// newPicture lays out a story.
func newPicture(s *timeline.Story, l *lanes, all []row, o Options, zone *time.Location) *picture {
	p := &picture{Width: pictureWidth, Left: plotLeft, Right: plotRight, AxisY: axisHeight - 8}
	if len(all) > maxMarks {
		p.NotDrawn = len(all) - maxMarks
		all = all[:maxMarks]
	}
	a := newAxis(all, l.all)
	top := axisHeight
	for i := range all {
		if all[i].lane == noLane {
			top += 22
			break
		}
	}
	p.Height = top + laneHeight*float64(len(l.all)) + 8
	bar := func(lane int) float64 { return top + laneHeight*float64(lane) + barTop + barHeight/2 }
	p.ticks(a, all, zone)
	p.lanes(l, all, a, top, len(nodes(s)) > 1)
	used := map[[2]int]float64{}
	for i := range all {
		r := &all[i]
		if r.lateDel != nil {
			p.lateDel(r, a.rows[i], bar(r.lane), bar(r.lateDel.victim), tip(s, r, l, o, zone))
			used[[2]int{r.lane, 0}], used[[2]int{r.lane, 1}] = plotRight, plotRight
			continue
		}
		m := mark{X: a.rows[i], Class: class(r.kind), Label: cutRight(label(r), 34), Tip: tip(s, r, l, o, zone), Row: inTable(r.event), Lane: r.lane, Slot: -1}
		if r.last.After(r.at) {
			m.SpanW = a.at(r.last) - m.X
		}
		if r.lane == noLane {
			m.Y = axisHeight + 8
			p.Nodes = append(p.Nodes, m)
			continue
		}
		m.Y = bar(r.lane)
		m.place(used)
		p.Marks = append(p.Marks, m)
	}
	p.Desc = describe(s, l)
	return p
}

// place finds room for a mark's label, above its bar or below.
func (m *mark) place(used map[[2]int]float64) {
	width := float64(cells(m.Label))*charWidth + 12
	for slot := range 2 {
		key := [2]int{m.Lane, slot}
		if used[key] <= m.X-6 && m.X+width < pictureWidth {
			used[key] = m.X - 6 + width
			m.Slot = slot
			return
		}
	}
}

// inTable gives the row of an event in the table, or -1 if it is not in it.
func inTable(event int) int {
	if event >= maxTable {
		return -1
	}
	return event
}

func label(r *row) string {
	if r.count > 1 {
		return fmt.Sprintf("%s ×%d", r.said, r.count)
	}
	return r.said
}

// tip gives the full text of a row.
func tip(s *timeline.Story, r *row, l *lanes, o Options, zone *time.Location) string {
	var b strings.Builder
	if !r.at.IsZero() {
		b.WriteString(r.at.In(zone).Format("2006-01-02 15:04:05.000") + "  ")
	}
	b.WriteString(r.told("×", zone))
	if r.lateDel != nil {
		fmt.Fprintf(&b, " of %s: %s of %s", l.all[r.lane].title, r.lateDel.lost, l.all[r.lateDel.victim].title)
	}
	if r.reason != "" {
		b.WriteString("\n" + r.reason)
	}
	if r.event >= 0 {
		e := &s.Events[r.event]
		b.WriteString("\n" + strings.TrimSpace("source: "+clean(e.Source)))
		if e.Node != "" {
			b.WriteString(" on " + clean(e.Node))
		}
	}
	if where := o.source(r.places, 120); where != "" {
		b.WriteString("\n" + where)
	}
	return b.String()
}

// class gives the CSS class of a mark.
func class(k timeline.Kind) string {
	switch k {
	case timeline.AddEnd:
		return "add"
	case timeline.DelEnd, timeline.DelStopped, timeline.SandboxRemoved, timeline.SandboxStopped:
		return "del"
	case timeline.EndpointDeleted, timeline.HandleReleased, timeline.AddressReleased, timeline.GCReleased, timeline.PodWithoutInterface, timeline.RouteRemoved:
		return "take"
	case timeline.EndpointWritten, timeline.AddressAssigned, timeline.RouteAdded:
		return "give"
	default:
		if withReason.has(k) {
			return "fail"
		}
		return "note"
	}
}
