package records

import (
	"fmt"
	"time"
)

// A clock makes times of one file's stamps, and remembers what it had to guess.
type clock struct {
	anchor anchor
	mod    time.Time // of the file
	now    time.Time
	year   int                       // of the stamp read last
	day    int16                     // of it; 0 before the first
	begun  int                       // the first year, 0 if it is not known
	by     string                    // what told the year
	zoneBy string                    // what told the zone
	asked  struct{ year, zone bool } // some stamp needed it
}

// chunk goes on to a chunk's first stamp: it may be of another year than the last of the
// chunk before. Without one, nothing changes.
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

// turn goes on to another year.
func (c *clock) turn(t turn) {
	c.year += int(t.years)
	if t.year != 0 {
		c.year = int(t.year)
	}
}

// zone takes the zone that is known of the file from elsewhere, where its own lines tell
// none.
func (c *clock) zone(z *time.Location) {
	c.zoneBy = "by the stamps inside its lines"
	if z == nil || c.anchor.zoned {
		return
	}
	_, c.anchor.offset = time.Time{}.In(z).Zone()
	c.anchor.zoned, c.zoneBy = true, "by its node"
}

// begin finds the year of the first stamp.
func (c *clock) begin(day int16) {
	switch {
	case c.anchor.year != 0:
		c.year, c.by = c.anchor.year-int(turns(day, c.anchor.day)), "by the stamps inside its lines"
	case !c.mod.IsZero():
		c.year, c.by = lastYear(day, c.mod), "by the file's modification time"
	case !c.now.IsZero():
		c.year, c.by = lastYear(day, c.now), "by today's date"
	}
	c.begun = c.year
}

// lastYear gives the last year in which a day was not after t; zones may make it a day.
func lastYear(day int16, t time.Time) int {
	t = t.UTC().AddDate(0, 0, 1)
	s := stamp{month: uint8(t.Month()), day: uint8(t.Day())}
	if day > s.date() {
		return t.Year() - 1
	}
	return t.Year()
}

// at gives the time of a line. The finest stamp that is complete is taken; one that is
// finer but lacks year or zone gets them from the other on its line, or from the file.
func (c *clock) at(outer, inner *stamp) time.Time {
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
		return c.time(outer)
	default:
		t := outer.in(0, 0)
		year, offset, ok := apart(inner, t)
		if !ok {
			return t
		}
		return inner.in(year, offset)
	}
}

// time gives a stamp's time, with the file's year and zone where it has none.
func (c *clock) time(s *stamp) time.Time {
	if s.year == 0 {
		c.asked.year = true
		if c.begun == 0 {
			return time.Time{}
		}
	}
	if !s.zoned {
		c.asked.zone = true
	}
	return s.in(c.year, c.anchor.offset)
}

// guessed says what the file's stamps left out, and what was taken for it.
func (c *clock) guessed() []string {
	var out []string
	if c.asked.year {
		out = append(out, "no year in its stamps: "+c.years())
	}
	if c.asked.zone {
		zone, by := "read as UTC", ""
		if c.anchor.zoned {
			zone, by = zoneName(c.anchor.offset), ", "+c.zoneBy
		}
		out = append(out, fmt.Sprintf("no zone in its stamps: %s%s", zone, by))
	}
	return out
}

func (c *clock) years() string {
	switch c.begun {
	case 0:
		return "and nothing tells it, so they are left out"
	case c.year:
		return fmt.Sprintf("%d, %s", c.year, c.by)
	default:
		return fmt.Sprintf("%d to %d, %s", min(c.begun, c.year), max(c.begun, c.year), c.by)
	}
}

func zoneName(offset int) string {
	return time.Unix(0, 0).In(time.FixedZone("", offset)).Format("-07:00")
}
