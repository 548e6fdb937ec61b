package read

// Stamps without a year tell of a new one only by going back. Every line is looked at for
// it, wanted or not: two wanted lines may lie a year apart.
const (
	halfYear  = 6 * 31
	nearAYear = 12*31 - 17 // lines of several nodes take turns around midnight on New Year's Eve
)

// A turn is a line of a chunk at which the year changes.
type turn struct {
	line  uint32
	years int8
}

// dates are the first and the last day that a chunk's stamps without a year name.
type dates struct{ first, last int16 }

// see looks at a line's stamps.
func (d *dates) see(p *parser, out *found) {
	s := &p.outer
	if !s.is() || s.year != 0 {
		if s = &p.inner; !s.is() || s.year != 0 {
			return
		}
	}
	day := s.date()
	if day == d.last {
		return
	}
	if d.first == 0 {
		d.first = day
	} else if years := turns(d.last, day); years != 0 {
		out.turns = append(out.turns, turn{out.lines, years})
	}
	d.last = day
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
