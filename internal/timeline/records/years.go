package records

// Stamps without a year tell of a new one only by going back. Every line is looked at for
// it, wanted or not: two wanted lines may lie a year apart.
const (
	halfYear  = 6 * 31
	nearAYear = 12*31 - 17 // lines of several nodes take turns around midnight on New Year's Eve
)

// A turn is a line of a chunk at which the year changes, or is told.
type turn struct {
	line  uint32
	years int8
	year  int16 // where the line tells it, else 0
}

// dates are the first and the last day that a chunk's stamps without a year name.
type dates struct {
	first, last int16
	year        int16 // of the first, where its line tells it
	sure        bool  // a line of the last day has told its year
}

// see looks at a line's stamps. A line that has another stamp with a year tells it: that
// is better than to count, for whoever pasted lines together may not have kept their order.
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

// yearBeside gives the year of a stamp that has none, by one that was written at the same
// moment; 0 if they do not fit.
func yearBeside(bare, full *stamp) int16 {
	if !full.zoned {
		return full.year
	}
	year, _, _ := apart(bare, full.in(0, 0))
	return int16(year)
}

// turns tells by how many years a day is apart from the day before it in the file.
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
