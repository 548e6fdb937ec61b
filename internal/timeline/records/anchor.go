package records

import (
	"bytes"
	"time"
)

// An anchor is the year and the zone for timestamps of a file that lack them, taken from lines in
// its beginning that have two timestamps, one of them complete.
type anchor struct {
	year   int   // of the first incomplete timestamp beside a complete one; 0 if there is none
	day    int16 // stamp.date of that timestamp; the year of other days follows by turns
	zoned  bool  // offset is known
	offset int   // seconds east of UTC; 0 if not zoned
	// own is the zone that loggers of the file write themselves, if none of its lines shows the zone
	// of a timestamp without one: processes of one machine have one zone.
	own   bool
	owned int // seconds east of UTC
}

// An anchoring searches the beginning of a file for an anchor, line by line.
type anchoring struct {
	anchor
	bare stamp // timestamp of the last line with a header; lines without one that follow belong to it
}

func (a *anchoring) found() bool { return a.year != 0 && a.zoned && a.own }

// see reads a line.
func (a *anchoring) see(p *parser) {
	if p.headed {
		if p.outer.is() && p.inner.is() {
			a.header(&p.outer, &p.inner)
			a.header(&p.inner, &p.outer)
		}
		if a.bare = p.inner; !a.bare.is() {
			a.bare = p.outer
		}
		if p.rec.Style == Logrus && a.bare.zoned && !a.own {
			a.own, a.owned = true, int(a.bare.offset)
		}
	}
	a.inside(p.body, &a.bare)
}

// blank notes an empty line: what follows does not belong to the lines before it.
func (a *anchoring) blank() { a.bare = stamp{} }

// findAnchor searches a beginning that is longer than one chunk.
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

// header takes what one timestamp of a line's headers has and the other lacks. Both were written
// at the same time, so their difference is the zone (apart). Without a zone in full only the year
// is taken.
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

// tell sets the year of the first line that shows one; later lines do not change it.
func (a *anchor) tell(year int, bare *stamp) {
	if a.year == 0 {
		a.year, a.day = year, bare.date()
	}
}

// inside searches the message for complete timestamps. They may be of any time, but one of the
// same day and month is most likely of the same year, and a process that prints times in a zone
// other than UTC uses that zone for its own timestamps. A zone of UTC in a message proves
// nothing about them.
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

// apart gives the year and the offset with which the incomplete timestamp bare shows the time t.
// Offsets are multiples of 15 minutes of at most 14 hours; two minutes are allowed between the
// two loggers. ok is false if no year fits.
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
