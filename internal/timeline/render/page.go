package render

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	timeWidth = len("15:04:05") + gap
	gap       = 2
)

// sourceWidth is the width of the SOURCE column: as wide as needed, but so that three lanes fit
// into 80 columns.
func (p *printer) sourceWidth(all []row) int {
	most, need := min(40, max(12, p.o.width()-timeWidth-3*(leastLane+1))), len("SOURCE")
	for i := range all {
		need = max(need, cells(p.o.source(all[i].places, most)))
	}
	return min(need, most)
}

// A column is the position of a lane on a page.
type column struct{ start, width int }

// page writes the rows of some lanes; those of no lane are on the first page only.
func (p *printer) page(page []int, all []row, first bool, pages int) {
	var shown []row
	for i := range all {
		r := &all[i]
		onPage := slices.Contains(page, r.lane) || r.lateDel != nil && slices.Contains(page, r.lateDel.victim)
		if onPage || r.lane == noLane && first {
			shown = append(shown, *r)
		}
	}
	right := p.sourceWidth(all)
	columns := p.columns(page, shown, p.o.width()-timeWidth-right)
	p.titles(page, columns, right, pages)
	day := ""
	if start, end := days(p.story, p.zone); start == end {
		day = start
	}
	for i := range shown {
		r := &shown[i]
		if d := r.at.In(p.zone).Format(time.DateOnly); !r.at.IsZero() && d != day {
			p.line("-- " + d)
			day = d
		}
		p.row(r, page, columns, right)
	}
}

// columns gives each lane the width it needs, if there is room; else the narrow lanes what they
// need, and the others an equal part of the rest. Text of a lane may extend over the lanes to
// its right where they are empty, so only the last lane needs its full width.
func (p *printer) columns(page []int, shown []row, room int) []column {
	need := make([]int, len(page))
	for i, n := range page {
		need[i] = max(cells(p.lanes.all[n].title), p.nodeWidth(n))
	}
	want := func(n, width int) {
		if n >= 0 {
			need[n] = max(need[n], width)
		}
	}
	for i := range shown {
		r := &shown[i]
		own, most := slices.Index(page, r.lane), leastLane+4
		if own == len(page)-1 {
			most = 2 * leastLane
		}
		want(own, min(cells(p.said(r)), most))
		if r.lateDel == nil {
			continue
		}
		want(own, leastLane)
		victim := slices.Index(page, r.lateDel.victim)
		want(victim, cells(r.lateDel.lost))
		if victim < own {
			want(victim, cells(r.lateDel.lost)+leastArrow)
		}
	}
	return share(need, room)
}

// leastArrow is the room for <-- and the spaces around it.
const leastArrow = 5

func share(need []int, room int) []column {
	out := make([]column, len(need))
	left, open := room, len(need)
	order := make([]int, len(need))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return need[a] - need[b] })
	for _, i := range order {
		out[i].width = max(1, min(need[i], left/open-gap))
		left -= out[i].width + gap
		open--
	}
	at := timeWidth
	for i := range out {
		out[i].start = at
		at += out[i].width + gap
	}
	return out
}

// nodeWidth is 0 if all sandboxes are on one node, which the heading then names.
func (p *printer) nodeWidth(lane int) int {
	if len(p.nodes) < 2 {
		return 0
	}
	return min(cells(clean(p.lanes.all[lane].Node)), 2*leastLane)
}

func (p *printer) titles(page []int, columns []column, right, pages int) {
	if pages > 1 {
		p.line(cutRight("-- sandboxes "+p.names(page), p.o.width()))
	}
	l := newLine(p.o.width())
	l.put(0, "TIME", timeWidth)
	for i, n := range page {
		l.put(columns[i].start, p.lanes.all[n].title, columns[i].width)
	}
	l.put(p.o.width()-right, "SOURCE", right)
	p.line(p.bold(l.String()))
	if len(p.nodes) < 2 || len(page) == 0 {
		return
	}
	l = newLine(p.o.width())
	for i, n := range page {
		l.put(columns[i].start, clean(p.lanes.all[n].Node), columns[i].width)
	}
	p.line(l.String())
}

func (p *printer) names(page []int) string {
	var names []string
	for _, n := range page {
		names = append(names, p.lanes.all[n].title)
	}
	return fmt.Sprintf("%s (%d of %d)", strings.Join(names, ", "), len(page), len(p.lanes.all))
}

// said gives the text of a row in its lane, with its count.
func (p *printer) said(r *row) string {
	return r.told("x", p.zone)
}

func (p *printer) row(r *row, page []int, columns []column, right int) {
	l := newLine(p.o.width())
	if !r.at.IsZero() {
		l.put(0, r.at.In(p.zone).Format(time.TimeOnly), timeWidth)
	}
	end := p.o.width() - right
	l.put(end, p.o.source(r.places, right), right)
	own := slices.Index(page, r.lane)
	switch {
	case r.lateDel != nil:
		p.arrow(l, r, own, slices.Index(page, r.lateDel.victim), columns, end)
		p.line(p.red(l.String()))
		return
	case own >= 0:
		p.own(l, r, columns[own].start, end-gap)
		return
	default:
		said := p.said(r)
		if r.node != "" && len(p.nodes) > 1 {
			said += " on " + clean(r.node)
		}
		l.put(timeWidth, "* "+said, end-gap-timeWidth)
	}
	p.line(l.String())
}

// own writes a row of one lane. A reason that does not fit gets a line of its own, once: several
// components often log the same reason.
func (p *printer) own(l *line, r *row, start, end int) {
	said := p.said(r)
	again := r.reason == "" || p.reason == r.reason && p.reasonLane == r.lane
	inline := said + ": " + r.reason
	fits := cells(inline) <= end-start
	if fits && !again {
		said = inline
	}
	l.put(start, said, end-start)
	p.line(l.String())
	if again {
		return
	}
	p.reason, p.reasonLane = r.reason, r.lane
	if !fits {
		more := newLine(p.o.width())
		more.put(start+gap, r.reason, p.o.width()-start-gap)
		p.line(more.String())
	}
}

// arrow draws a late DEL from its own lane to the lane that lost something. If one of them is
// on another page, it is named.
func (p *printer) arrow(l *line, r *row, from, to int, columns []column, end int) {
	victim, own := p.lanes.all[r.lateDel.victim].title, p.lanes.all[r.lane].title
	switch {
	case to < 0:
		l.put(columns[from].start, r.said+"  --> "+victim+": "+r.lateDel.lost, end-gap-columns[from].start)
	case from < 0:
		l.put(columns[to].start, r.lateDel.lost+" <-- DEL of "+own, end-gap-columns[to].start)
	case from < to:
		at := columns[from].start + cells(r.said) + gap
		l.put(columns[from].start, r.said, columns[from].width)
		l.put(at, dashes(columns[to].start-gap-at-1)+">", end)
		l.put(columns[to].start, r.lateDel.fit(end-gap-columns[to].start), end-gap-columns[to].start)
	default:
		lost := cutRight(r.lateDel.fit(columns[to].width-leastArrow+gap), columns[to].width-leastArrow+gap)
		l.put(columns[to].start, lost, columns[to].width)
		at := columns[to].start + cells(lost) + gap
		l.put(at, "<"+dashes(columns[from].start-gap-at-1), end)
		l.put(columns[from].start, r.said, end-gap-columns[from].start)
	}
}

func dashes(n int) string { return strings.Repeat("-", max(n, 1)) }
