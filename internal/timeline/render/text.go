package render

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/timeline"
)

// Text writes a story in swim lanes with its verdicts below.
func Text(w io.Writer, s *timeline.Story, o Options) error {
	out := bufio.NewWriter(w)
	p := printer{out: out, o: o, story: s, zone: o.zone(s), lanes: lanesOf(s), nodes: nodes(s)}
	p.heading()
	all := rows(s, p.lanes, mostJoined)
	pages := p.pages(all)
	for i, page := range pages {
		if i > 0 {
			p.line("")
		}
		p.page(page, all, i == 0, len(pages))
	}
	p.verdicts()
	return out.Flush()
}

// A printer writes one story.
type printer struct {
	out   *bufio.Writer
	o     Options
	story *timeline.Story
	zone  *time.Location
	lanes *lanes
	nodes []string

	reason     string // the last one written
	reasonLane int
}

// line writes a line; the writer returns errors at Flush.
func (p *printer) line(s string) { _, _ = p.out.WriteString(strings.TrimRight(s, " ") + "\n") }

func (p *printer) heading() {
	h := clean(p.story.Pod)
	if len(p.nodes) > 0 {
		h += " on " + strings.Join(p.nodes[:min(len(p.nodes), 3)], ", ")
		if more := len(p.nodes) - 3; more > 0 {
			h += fmt.Sprintf(" and %d more", more)
		}
	}
	if first, last := days(p.story, p.zone); first != "" {
		h += ", " + first
		if last != first {
			h += " to " + last
		}
		h += " " + p.offset()
	}
	switch n := len(p.lanes.all); n {
	case 0:
		h += ", no sandbox"
	case 1:
		h += ", 1 sandbox"
	default:
		h += fmt.Sprintf(", %d sandboxes", n)
	}
	for _, l := range wrap(h, p.o.width()) {
		p.line(p.bold(l))
	}
}

// offset names the zone as its distance from UTC at the story's beginning.
func (p *printer) offset() string { return offset(p.story, p.zone) }

func offset(s *timeline.Story, zone *time.Location) string {
	for i := range s.Events {
		if at := s.Events[i].At; !at.IsZero() {
			if z := at.In(zone).Format("-07:00"); z != "+00:00" {
				return z
			}
			break
		}
	}
	return "UTC"
}

// mostJoined is how many columns the events of one row may have.
const mostJoined = 28

// leastLane is the least width of a lane.
const leastLane = 16

// pages gives the lanes of each page. If not all fit, those that verdicts name come first; within
// a page they are in the story's order.
func (p *printer) pages(all []row) [][]int {
	order := make([]int, len(p.lanes.all))
	for i := range order {
		order[i] = i
	}
	fit := max(1, (p.o.width()-timeWidth-p.sourceWidth(all))/leastLane)
	if len(order) <= fit {
		return [][]int{order}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case p.lanes.all[a].concerned == p.lanes.all[b].concerned:
			return 0
		case p.lanes.all[a].concerned:
			return -1
		}
		return 1
	})
	pages := slices.Collect(slices.Chunk(order, fit))
	for _, page := range pages {
		slices.Sort(page)
	}
	return pages
}
