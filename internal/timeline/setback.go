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

// A setBack tells for which times without a zone that of their file is doubtful: all (other zones stand
// beside them), or those from a line on, at which they go back by as much as a zone may change.
type setBack map[uint16]doubtful

type doubtful struct {
	from uint32
	all  bool
}

// doubts reports whether the zone of an event's time is doubtful.
func (b setBack) doubts(p *packed) bool {
	d, ok := b[p.file]
	return ok && (d.all && p.zoneBy != ZoneShown || p.line >= d.from && p.zoneBy > ZoneFollowed)
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
		from, ok := setBackAt(events)
		if all := otherZone(events); ok || all {
			out[file] = doubtful{from, all}
		}
	}
	return out
}

// otherZone reports whether the times of a file that have no zone are of another one than those that
// have one: where both kinds meet, most are apart by the same difference of zones.
func otherZone(events []*packed) bool {
	votes, meet := map[time.Duration]int{}, 0
	for i, p := range events[1:] {
		last := events[i]
		if (p.zoneBy == ZoneShown) == (last.zoneBy == ZoneShown) || p.zoneBy == ZoneAssumed || last.zoneBy == ZoneAssumed {
			continue
		}
		meet++
		d := time.Duration(p.at - last.at)
		if last.zoneBy != ZoneShown {
			d = -d
		}
		if q := d.Round(quarter); (d - q).Abs() <= fromQuarter {
			votes[q]++
		}
	}
	for apart, n := range votes {
		if apart != 0 && n >= minTwins && float64(n) >= mostOf*float64(meet) {
			return true
		}
	}
	return false
}

// setBackAt gives the line from which on the times of one file are doubtful. Between two times of
// which only one has a zone, and whose file shows none, nothing can be said.
func setBackAt(events []*packed) (line uint32, ok bool) {
	for i, p := range events[1:] {
		last := events[i]
		comparable := p.zoneBy == last.zoneBy || p.zoneBy != ZoneAssumed && last.zoneBy != ZoneAssumed
		if p.zoneBy <= ZoneFollowed && last.zoneBy <= ZoneFollowed || !comparable {
			continue
		}
		back := time.Duration(last.at - p.at)
		if back <= zoneChange || back > excerpt {
			continue
		}
		for i > 0 && p.zoneBy <= ZoneFollowed && events[i-1].zoneBy > ZoneFollowed { // those before it were ahead
			i--
		}
		if p.zoneBy <= ZoneFollowed {
			return events[i].line, true
		}
		return p.line, true
	}
	return 0, false
}
