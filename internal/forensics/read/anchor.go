package read

import (
	"bytes"
	"time"
)

// An anchor is what a file's beginning tells of the year and the zone that its stamps
// leave out: lines that have two stamps, one of them complete.
type anchor struct {
	year   int
	day    int16 // in that year, of the line that told it
	zoned  bool
	offset int // seconds east of UTC
}

// findAnchor looks for lines in a file's beginning whose stamps tell what others lack.
func findAnchor(head []byte) (a anchor) {
	p := parser{names: &names{}}
	var bare stamp // of the last line that had a header
	for len(head) > 0 && (a.year == 0 || !a.zoned) {
		var line []byte
		line, head, _ = bytes.Cut(head, newline)
		p.parse(line)
		switch {
		case p.headed:
			if p.outer.is() && p.inner.is() {
				a.header(&p.outer, &p.inner)
				a.header(&p.inner, &p.outer)
			}
			if bare = p.inner; !bare.is() {
				bare = p.outer
			}
		case len(p.body) == 0:
			bare = stamp{}
		}
		a.inside(p.body, &bare)
	}
	return a
}

// header takes what one stamp of a line's headers has and the other lacks. Both were
// written at the same moment.
func (a *anchor) header(full, bare *stamp) {
	if full.year == 0 || bare.complete() {
		return
	}
	if bare.year == 0 && !full.zoned {
		a.tell(int(full.year), bare)
		return
	}
	if year, offset, ok := apart(bare, full.in(0, 0)); ok && full.zoned {
		a.tell(year, bare)
		a.offset, a.zoned = offset, true
	}
}

func (a *anchor) tell(year int, bare *stamp) {
	if a.year == 0 {
		a.year, a.day = year, bare.date()
	}
}

// inside looks for stamps in the message itself. Such a time may be any, but one of the
// same day was most likely written in the same year; and a process that prints times in
// a zone of its own stamps its lines in that zone.
func (a *anchor) inside(b []byte, bare *stamp) {
	if !bare.is() || bare.complete() {
		return
	}
	for {
		i := bytes.Index(b, []byte("20"))
		if i < 0 {
			return
		}
		var s stamp
		n := goStamp(b[i:], &s)
		if n == 0 {
			b = b[i+2:]
			continue
		}
		b = b[i+n:]
		if s.month != bare.month || s.day != bare.day || !s.zoned {
			continue
		}
		a.tell(int(s.year), bare)
		if s.offset != 0 && !a.zoned {
			a.offset, a.zoned = int(s.offset), true
		}
	}
}

// apart gives the year and the offset by which a stamp that lacks one of them shows the
// time t. Clocks of zones differ by quarters of an hour; two minutes are for the way from
// one logger to the next.
func apart(bare *stamp, t time.Time) (year, offset int, ok bool) {
	t = t.UTC()
	for year := t.Year() - 1; year <= t.Year()+1; year++ {
		if bare.year != 0 && year != int(bare.year) {
			continue
		}
		d := bare.in(year, 0).Sub(t)
		quarter := d.Round(15 * time.Minute)
		if quarter.Abs() <= 14*time.Hour && (d-quarter).Abs() <= 2*time.Minute {
			return year, int(quarter / time.Second), true
		}
	}
	return 0, 0, false
}
