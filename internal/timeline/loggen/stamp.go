package loggen

import "time"

// A layout is how a stamp is written, in Go's form.
type layout struct {
	form string
}

// The layouts of stamps, the longer before their beginnings.
var (
	nanos   = &layout{form: "2006-01-02T15:04:05.000000000"}
	micros  = &layout{form: "2006-01-02T15:04:05.000000"}
	seconds = &layout{form: "2006-01-02T15:04:05"}
	spaced  = &layout{form: "2006-01-02 15:04:05.000"}
	bare    = &layout{form: "2006-01-02 15:04:05"}
	klog    = &layout{form: "0102 15:04:05.000000"}
	syslog  = &layout{form: "Jan 02 15:04:05"}
	full    = []*layout{nanos, micros, seconds, spaced, bare}
)

// earliest is the first valid year of a timestamp: some lines contain zero times.
const earliest = 2010

// stampAt reads the stamp that begins at a place. Its time is the local
// time of the clock, whatever its zone; a timestamp without a year is of the recording's year.
func stampAt(text string, i, year int) (length int, at int64, look *layout) {
	if i > 0 && text[i-1] >= '0' && text[i-1] <= '9' {
		return 0, 0, nil
	}
	rest := text[i:]
	if len(rest) < len(syslog.form) {
		return 0, 0, nil
	}
	if rest[0] == '2' {
		for _, l := range full {
			if t, ok := l.read(rest); ok && t.Year() >= earliest {
				return len(l.form), t.UnixNano(), l
			}
		}
	}
	if l := yearless(rest[0], i); l != nil {
		if t, ok := l.read(rest); ok {
			return len(l.form), inYear(t, year), l
		}
	}
	return 0, 0, nil
}

// yearless gives the layout without a year that may begin with c at place i: syslog's only at
// the begin of a line, klog's only after the level.
func yearless(c byte, i int) *layout {
	switch {
	case i == 0 && c >= 'A' && c <= 'Z':
		return syslog
	case i > 0 && (c == '0' || c == '1'):
		return klog
	}
	return nil
}

func (l *layout) read(text string) (time.Time, bool) {
	if len(text) < len(l.form) {
		return time.Time{}, false
	}
	t, err := time.Parse(l.form, text[:len(l.form)])
	return t, err == nil
}

func inYear(t time.Time, year int) int64 { return t.AddDate(year-t.Year(), 0, 0).UnixNano() }

// thisYear is when the recordings were made that name no year at all.
const thisYear = 2026

// yearOf finds the year of a recording by the first stamp that names one.
func yearOf(lines [][]string) int {
	for _, part := range lines {
		for _, l := range part {
			for i := range l {
				if _, at, look := stampAt(l, i, thisYear); look != nil && look != klog && look != syslog {
					return time.Unix(0, at).UTC().Year()
				}
			}
		}
	}
	return thisYear
}
