package timeline

import (
	"cmp"
	"slices"
	"time"
)

// A change of zone sets times back by half an hour or an hour, less what passed between two lines; what
// goes back by less or more is another excerpt.
const (
	zoneChange = 20 * time.Minute
	excerpt    = time.Hour + time.Minute
)

// A setBack tells from which line on the zone of a file's times without one is doubtful: they go back
// by as much as a zone may change, or contradict times of the file that have a zone.
type setBack map[uint16]uint32

// doubts reports whether the zone of an event's time is doubtful.
func (b setBack) doubts(p *packed) bool {
	from, ok := b[p.file]
	return ok && p.line >= from && p.zoneBy != ZoneShown
}

// setBacks finds them. l.mu must be held.
func (l *Log) setBacks() setBack {
	files := map[uint16][]*packed{}
	bare := map[uint16]bool{}
	for p := range l.events.all() {
		if p.at != noTime {
			bare[p.file] = bare[p.file] || p.zoneBy != ZoneShown
			files[p.file] = append(files[p.file], p)
		}
	}
	out := setBack{}
	for file, events := range files {
		if !bare[file] {
			continue
		}
		slices.SortStableFunc(events, func(a, b *packed) int { return cmp.Compare(a.line, b.line) })
		if from, ok := setBackAt(events); ok {
			out[file] = from
		}
	}
	return out
}

// changed reports whether times go back as after a change of zone.
func changed(back time.Duration) bool { return back > zoneChange && back <= excerpt }

// apartByZone reports whether times go back by the difference of two zones.
func apartByZone(back time.Duration) bool {
	return back > zoneChange && back <= 26*time.Hour && (back-back.Round(quarter)).Abs() <= fromQuarter
}

// setBackAt gives the line from which on the times of one file are doubtful. Between two times of
// which only one has a zone, and whose file shows none, nothing can be said.
func setBackAt(events []*packed) (line uint32, ok bool) {
	for i, p := range events[1:] {
		last := events[i]
		comparable := p.zoneBy == last.zoneBy || p.zoneBy != ZoneAssumed && last.zoneBy != ZoneAssumed
		if p.zoneBy == ZoneShown && last.zoneBy == ZoneShown || !comparable {
			continue
		}
		back := time.Duration(last.at - p.at)
		mixed := (p.zoneBy == ZoneShown) != (last.zoneBy == ZoneShown)
		if !changed(back) && !(mixed && apartByZone(back)) {
			continue
		}
		for i > 0 && p.zoneBy == ZoneShown && events[i-1].zoneBy != ZoneShown { // those before it were ahead
			i--
		}
		if p.zoneBy == ZoneShown {
			return events[i].line, true
		}
		return p.line, true
	}
	return 0, false
}
