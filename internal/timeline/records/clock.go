package records

import (
	"fmt"
	"time"

	"plumbline.dev/plumbline/internal/timeline"
)

// A clock converts the timestamps of one file, in file order, to times, and records what it had to
// guess. Sources of a missing year, first match: another timestamp of the line; the anchor; the
// file's modification time; the current time. Of a missing zone: another timestamp of the line;
// the anchor; the zone of the node (Input.Zone); UTC.
//
// Invariant: between two lines, year is the year of the last timestamp without one, and day its
// date. chunk and turn move both forward: a date that goes back by more than half a year means
// the next year.
type clock struct {
	anchor  anchor
	mod     time.Time                 // modification time of the file; zero if unknown
	now     time.Time                 // current time; zero if not to be used
	year    int                       // of the last timestamp without a year
	day     int16                     // stamp.date of it; 0 before the first
	begun   int                       // year of the first one; 0 if nothing shows it: such timestamps then give no time
	by      string                    // source of the year
	zoneBy  string                    // source of the zone
	ahead   time.Duration             // of the node's clock: subtracted from every time
	asked   struct{ year, zone bool } // a timestamp of an event needed the guess, so it is reported
	zones   []timeline.ZoneSince      // that its own timestamps have shown, in order
	follows bool                      // anchor.offset is that of its own timestamps
	zoneOf  timeline.ZoneBy           // how the zone of the last time is known
}

// chunk moves to the first timestamp without a year of the next chunk, which may be of another
// year than the last one of the chunk before. Without such a timestamp nothing changes.
func (c *clock) chunk(d dates) {
	if d.first == 0 {
		return
	}
	if c.day == 0 {
		c.begin(d.first)
	} else {
		c.year += int(turns(c.day, d.first))
	}
	if d.year != 0 {
		c.year = int(d.year)
	}
	c.day = d.first
}

// turn moves to another year, by a line at which the splitter found that it changes.
func (c *clock) turn(t turn) {
	if t.zoned {
		c.moved(t)
		return
	}
	c.year += int(t.years)
	if t.year != 0 {
		c.year = int(t.year)
	}
}

// moved goes on with another zone: that of summer, or of winter. Only a file that shows no zone but
// that of its own timestamps follows them.
func (c *clock) moved(t turn) {
	if n := len(c.zones); n > 0 && c.zones[n-1].East == int(t.east) {
		return
	}
	c.zones = append(c.zones, timeline.ZoneSince{From: time.Unix(t.at, 0).UTC(), East: int(t.east)})
	if c.follows {
		c.anchor.offset = int(t.east)
	}
}

// zone sets the zone of the node for a file whose own lines show none.
func (c *clock) zone(z *time.Location) {
	c.zoneBy = "from timestamps inside its lines"
	switch {
	case c.anchor.zoned:
		c.follows = c.anchor.own && c.anchor.owned == c.anchor.offset
	case c.anchor.own:
		c.anchor.offset, c.anchor.zoned, c.zoneBy = c.anchor.owned, true, "from other timestamps of the file"
		c.follows = true
	case z != nil:
		_, c.anchor.offset = time.Time{}.In(z).Zone()
		c.anchor.zoned, c.zoneBy = true, "from its node"
	}
}

// firstLogs is a time before which no program that is read here wrote a log. Archives that are made
// to be reproducible have 1970 or 1980 for every file.
var firstLogs = time.Date(2014, 1, 1, 0, 0, 0, 0, time.UTC)

// begin sets the year of the first timestamp without one, whose date is day.
func (c *clock) begin(day int16) {
	switch {
	case c.anchor.year != 0:
		c.year, c.by = c.anchor.year-int(turns(day, c.anchor.day)), "from timestamps inside its lines"
	case !c.mod.Before(firstLogs):
		c.year, c.by = lastYear(day, c.mod), "from the file's modification time"
	case !c.now.IsZero():
		c.year, c.by = lastYear(day, c.now), "from today's date"
	}
	c.begun = c.year
}

// lastYear gives the last year in which the day is not later than t plus one day; the day allows
// for zones.
func lastYear(day int16, t time.Time) int {
	t = t.UTC().AddDate(0, 0, 1)
	s := stamp{month: uint8(t.Month()), day: uint8(t.Day())}
	if day > s.date() {
		return t.Year() - 1
	}
	return t.Year()
}

// at gives the time of a line with up to two timestamps, corrected by what is known of the
// node's clock.
func (c *clock) at(outer, inner *stamp) time.Time {
	c.zoneOf = timeline.ZoneShown
	t := c.written(outer, inner)
	if c.ahead == 0 || t.IsZero() {
		return t
	}
	return t.Add(-c.ahead)
}

// written gives the time that a line has: outer of syslog, journald or the
// container runtime, inner of the logger. The finest complete one is used, inner if both are
// equally fine. If inner is incomplete and outer, which is complete, only has seconds, inner is
// used with year and zone from outer, or outer if they do not fit; likewise if inner is earlier by
// more than it takes to pass a line on. If neither is complete, inner is used, with the year of
// outer if that has one.
func (c *clock) written(outer, inner *stamp) time.Time {
	switch {
	case !inner.is() && !outer.is():
		return time.Time{}
	case !inner.is():
		return c.time(outer)
	case !outer.is():
		return c.time(inner)
	case inner.complete():
		if outer.complete() && outer.fine && !inner.fine {
			return c.time(outer)
		}
		return c.time(inner)
	case !outer.complete():
		if inner.year == 0 && outer.year != 0 {
			s := *inner
			s.year = outer.year
			return c.time(&s)
		}
		return c.time(inner)
	case outer.fine:
		return c.relayed(outer, inner)
	default:
		t := outer.in(0, 0)
		year, offset, ok := apart(inner, t)
		if !ok {
			return t
		}
		return inner.in(year, offset)
	}
}

// relayed gives the time of a line whose outer timestamp is complete and fine. containerd logs
// what a CNI plugin said when the call has ended: then inner, which is earlier, is when it was
// said.
func (c *clock) relayed(outer, inner *stamp) time.Time {
	t := c.time(outer)
	year, offset, ok := apart(inner, t)
	if !ok {
		return t
	}
	if said := inner.in(year, offset); t.Sub(said) > relay {
		return said
	}
	return t
}

// relay is longer than it takes to pass a line on.
const relay = time.Second

// time converts one timestamp, with the file's year and zone where it has none; zero if the year
// is not known.
func (c *clock) time(s *stamp) time.Time {
	if s.year == 0 {
		c.asked.year = true
		if c.begun == 0 {
			return time.Time{}
		}
	}
	if !s.zoned {
		c.asked.zone = true
		switch {
		case !c.anchor.zoned:
			c.zoneOf = timeline.ZoneAssumed
		case c.follows:
			c.zoneOf = timeline.ZoneFollowed
		default:
			c.zoneOf = timeline.ZoneOfFile
		}
	}
	return s.in(c.year, c.anchor.offset)
}

// guessed reports what the file's timestamps lack, and what was used instead.
func (c *clock) guessed() []string {
	var out []string
	if c.asked.year {
		out = append(out, "timestamps without a year: "+c.years())
	}
	if c.asked.zone {
		zone, by := "read as UTC", ""
		if c.anchor.zoned {
			zone, by = zoneName(c.anchor.offset), ", "+c.zoneBy
		}
		out = append(out, fmt.Sprintf("timestamps without a zone: %s%s", zone, by))
	}
	return out
}

func (c *clock) years() string {
	switch c.begun {
	case 0:
		return "no line or file time shows it; such times are omitted"
	case c.year:
		return fmt.Sprintf("%d, %s", c.year, c.by)
	default:
		return fmt.Sprintf("%d to %d, %s", min(c.begun, c.year), max(c.begun, c.year), c.by)
	}
}

func zoneName(offset int) string {
	return time.Unix(0, 0).In(time.FixedZone("", offset)).Format("-07:00")
}
