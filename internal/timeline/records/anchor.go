package records

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

// An anchoring looks for lines in a file's beginning whose stamps tell what others lack.
type anchoring struct {
	anchor
	bare stamp // of the last line that had a header
}

func (a *anchoring) found() bool { return a.year != 0 && a.zoned }

// see looks at a line.
func (a *anchoring) see(p *parser) {
	if p.headed {
		if p.outer.is() && p.inner.is() {
			a.header(&p.outer, &p.inner)
			a.header(&p.inner, &p.outer)
		}
		if a.bare = p.inner; !a.bare.is() {
			a.bare = p.outer
		}
	}
	a.inside(p.body, &a.bare)
}

// blank takes note of an empty line: what follows belongs to nothing before it.
func (a *anchoring) blank() { a.bare = stamp{} }

// findAnchor goes through a beginning that does not stand in one chunk.
func findAnchor(head []byte, n *names) anchor {
	p, a := parser{names: n}, anchoring{}
	for more := true; more && len(head) > 0 && !a.found(); {
		var line []byte
		line, head, more = bytes.Cut(head, newline)
		if isBlank(line) {
			a.blank()
			continue
		}
		p.parse(line)
		a.see(&p)
	}
	return a.anchor
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
	day := [...]byte{'-', '0' + bare.month/10, '0' + bare.month%10, '-', '0' + bare.day/10, '0' + bare.day%10}
	const year = len("2017")
	for {
		i := bytes.Index(b, day[:]) - year
		if i < -year {
			return
		}
		var s stamp
		n := 0
		if i >= 0 && b[i] == '2' && b[i+1] == '0' {
			n = goStamp(b[i:], &s)
		}
		b = b[max(i+n, i+year+len(day)):]
		if n == 0 || !s.zoned {
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
