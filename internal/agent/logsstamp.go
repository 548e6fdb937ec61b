package agent

import (
	"bytes"
	"time"
)

// A logClock reads the stamps of one file's lines.
type logClock struct {
	modified time.Time      // of the file: it tells the year where stamps do not
	zone     *time.Location // the node's; nil if not known
}

// A stamp is when a line was written, by its own word. Two clocks are possible where it
// names no zone.
type stamp struct {
	local, utc time.Time
}

// within tells that a stamp may lie in a span of time. What is cut off a stamp makes it
// earlier.
func (s stamp) within(since, until time.Time) bool {
	in := func(t time.Time) bool {
		return (since.IsZero() || t.Add(time.Second).After(since)) && (until.IsZero() || !t.After(until))
	}
	return in(s.local) || in(s.utc)
}

// read finds a line's stamp where the components put it.
func (c *logClock) read(line []byte) (stamp, bool) {
	b := bytes.TrimLeft(line[:min(len(line), 64)], " \t")
	switch {
	case bytes.HasPrefix(b, []byte(`time="`)):
		b = b[len(`time="`):]
	case len(b) > 17 && string(b[8:17]) == ` {"at":"2`: // event log: after the checksum
		b = b[16:]
	}
	d := digits{b: b}
	switch {
	case len(b) > 19 && b[4] == '-' && b[7] == '-' && (b[10] == ' ' || b[10] == 'T'):
		year, month, day := d.at(0, 4), d.at(5, 2), d.at(8, 2)
		hour, minute, second := d.at(11, 2), d.at(14, 2), d.at(17, 2)
		if d.bad {
			return stamp{}, false
		}
		zone, named := zoneAt(b[19:])
		return c.stamp(year, month, day, hour, minute, second, zone, named), true
	case len(b) > 14 && (b[0] == 'I' || b[0] == 'W' || b[0] == 'E' || b[0] == 'F') && b[5] == ' ' && b[8] == ':':
		month, day, hour, minute, second := d.at(1, 2), d.at(3, 2), d.at(6, 2), d.at(9, 2), d.at(12, 2)
		return c.yearless(month, day, hour, minute, second), !d.bad
	case len(b) > 15 && b[3] == ' ' && b[9] == ':' && b[12] == ':':
		month := bytes.Index([]byte("JanFebMarAprMayJunJulAugSepOctNovDec"), b[:3])
		day, hour, minute, second := d.at(4, 2), d.at(7, 2), d.at(10, 2), d.at(13, 2)
		return c.yearless(month/3+1, day, hour, minute, second), !d.bad && month >= 0 && month%3 == 0
	}
	return stamp{}, false
}

func (c *logClock) stamp(year, month, day, hour, minute, second int, zone *time.Location, named bool) stamp {
	utc := time.Date(year, time.Month(month), day, hour, minute, second, 0, time.UTC)
	if named {
		t := time.Date(year, time.Month(month), day, hour, minute, second, 0, zone)
		return stamp{t, t}
	}
	if c.zone == nil {
		return stamp{utc, utc}
	}
	return stamp{time.Date(year, time.Month(month), day, hour, minute, second, 0, c.zone), utc}
}

// yearless takes the last year in which the line is not younger than its file.
func (c *logClock) yearless(month, day, hour, minute, second int) stamp {
	year := c.modified.UTC().Year()
	s := c.stamp(year, month, day, hour, minute, second, nil, false)
	if s.utc.After(c.modified.Add(48 * time.Hour)) {
		s = c.stamp(year-1, month, day, hour, minute, second, nil, false)
	}
	return s
}

// zoneAt reads what follows the seconds: a fraction, and a zone if there is one.
func zoneAt(b []byte) (*time.Location, bool) {
	i := 0
	for i < len(b) && (b[i] == '.' || b[i] == ',' || b[i] >= '0' && b[i] <= '9') {
		i++
	}
	switch {
	case i == len(b):
		return nil, false
	case b[i] == 'Z':
		return time.UTC, true
	case (b[i] == '+' || b[i] == '-') && i+6 <= len(b) && b[i+3] == ':':
		d := digits{b: b}
		offset := d.at(i+1, 2)*3600 + d.at(i+4, 2)*60
		if b[i] == '-' {
			offset = -offset
		}
		return time.FixedZone("", offset), !d.bad
	}
	return nil, false
}

// digits reads numbers of fixed width.
type digits struct {
	b   []byte
	bad bool
}

func (d *digits) at(i, n int) (v int) {
	for _, c := range d.b[i : i+n] {
		if c == ' ' && v == 0 { // a day of one digit
			continue
		}
		if c < '0' || c > '9' {
			d.bad = true
			return 0
		}
		v = v*10 + int(c-'0')
	}
	return v
}
