package records

// Timestamps without a year show a new year only by going back. Every line is checked for this,
// wanted or not, because two wanted lines may be a year apart.
const (
	halfYear  = 6 * 31     // a step back larger than this is a new year; a smaller one is disorder
	nearAYear = 12*31 - 17 // a step forward larger than this is the year before: lines of several nodes mix at New Year
)

// A turn is a line of a chunk at which the year changes, or which shows its year.
type turn struct {
	line  uint32 // in the chunk, from zero
	years int8   // to add to the year: -1, 0 or 1
	year  int16  // the year that the line shows, which overrides years; 0 if it shows none
	zoned bool   // from here on a logger writes times of another zone
	east  int32  // that zone, if zoned
	at    int64  // when, in seconds since 1970
}

// A zoning is the zone that the timestamps of a chunk have shown last.
type zoning struct {
	seen bool
	east int32
}

// see reads a line's timestamps, and notes the first zone of a chunk and each change.
func (z *zoning) see(p *parser, out *found) {
	if p.rec.Style != Logrus || !p.inner.zoned || p.inner.year == 0 || z.seen && z.east == p.inner.offset {
		return
	}
	z.seen, z.east = true, p.inner.offset
	out.turns = append(out.turns, turn{line: out.lines, zoned: true, east: z.east, at: p.inner.in(0, 0).Unix()})
}

// dates are the first and the last date of a chunk's timestamps without a year; 0 if it has none.
type dates struct {
	first, last int16
	year        int16 // of first, if its line shows it, else 0
	sure        bool  // a line of date last has shown its year
}

// see reads a line's timestamps. If the line has another timestamp with a year, that year is used
// instead of counting: pasted lines may be out of order.
func (d *dates) see(p *parser, out *found) {
	s, other := &p.outer, &p.inner
	if !s.is() || s.year != 0 {
		if s, other = other, s; !s.is() || s.year != 0 {
			return
		}
	}
	day := s.date()
	tells := other.is() && other.year != 0
	if day == d.last && (d.sure || !tells) {
		return
	}
	t := turn{line: out.lines}
	if tells {
		t.year = yearBeside(s, other)
	}
	if d.first == 0 {
		d.first, d.year = day, t.year
	} else if t.years = turns(d.last, day); t.years != 0 || t.year != 0 {
		out.turns = append(out.turns, t)
	}
	d.last, d.sure = day, t.year != 0
}

// yearBeside gives the year of a timestamp without one from another that was written at the same
// time; 0 if they do not fit.
func yearBeside(bare, full *stamp) int16 {
	if !full.zoned {
		return full.year
	}
	year, _, _ := apart(bare, full.in(0, 0))
	return int16(year)
}

// turns gives by how many years a date differs from the date before it in the file: -1, 0 or 1.
func turns(last, day int16) int8 {
	switch {
	case last-day > halfYear:
		return 1
	case day-last > nearAYear:
		return -1
	default:
		return 0
	}
}
