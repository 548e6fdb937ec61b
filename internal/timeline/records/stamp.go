package records

import "time"

// A stamp is a timestamp as written in a line: it may lack its year and its zone. The zero stamp,
// with month 0, is no timestamp (is).
type stamp struct {
	year              int16 // 0 if it has none
	month, day        uint8
	hour, minute, sec uint8
	zoned, fine       bool // it has a zone; it has a fraction of a second
	nano              int32
	offset            int32 // seconds east of UTC, if zoned
}

func (s *stamp) is() bool       { return s.month != 0 }
func (s *stamp) complete() bool { return s.year != 0 && s.zoned }

// in gives the time, with year and offset used only where the stamp has none of its own.
func (s *stamp) in(year, offset int) time.Time {
	if s.year != 0 {
		year = int(s.year)
	}
	if s.zoned {
		offset = int(s.offset)
	}
	t := time.Date(year, time.Month(s.month), int(s.day), int(s.hour), int(s.minute), int(s.sec), int(s.nano), time.UTC)
	return t.Add(-time.Duration(offset) * time.Second)
}

// date gives a number that orders days within a year, as if every month had 31 days.
func (s *stamp) date() int16 { return int16(s.month)*31 + int16(s.day) }

// clockTime reads hh:mm:ss with its fraction at the beginning of b, and gives how long it is.
func (s *stamp) clockTime(b []byte) int {
	if len(b) < 8 {
		return 0
	}
	d, ok := shaped(b, clocked)
	h, m, sec := two(d, 0), two(d, 3), two(d, 6)
	if !ok || h > 23 || m > 59 || sec > 60 {
		return 0
	}
	s.hour, s.minute, s.sec = uint8(h), uint8(m), uint8(sec)
	if len(b) < 10 || (b[8] != '.' && b[8] != ',') || b[9]-'0' > 9 {
		return 8
	}
	i, nano, unit := 9, int32(0), int32(1e8)
	for ; i < len(b) && b[i]-'0' <= 9; i++ {
		nano += int32(b[i]-'0') * unit
		unit /= 10
	}
	s.nano, s.fine = nano, true
	return i
}

// monthDay sets month and day if they are valid.
func (s *stamp) monthDay(month, day int) bool {
	if month < 1 || month > 12 || day < 1 || day > 31 {
		return false
	}
	s.month, s.day = uint8(month), uint8(day)
	return true
}

// isoStamp reads 2026-11-15T10:32:04.670Z and similar at the beginning of b: with a space
// for the T, with or without fraction and zone. It gives the length, 0 if there is none.
func isoStamp(b []byte, s *stamp) int {
	if len(b) < 19 || (b[10] != 'T' && b[10] != ' ') {
		return 0
	}
	d, ok := shaped(b, dayed)
	century, year := two(d, 0), two(d, 2)
	var got stamp
	if !ok || century < 19 || !got.monthDay(two(d, 5), digits2(b, 8)) {
		return 0
	}
	n := got.clockTime(b[11:])
	if n == 0 {
		return 0
	}
	got.year = int16(century*100 + year)
	*s = got
	return 11 + n + s.zone(b[11+n:])
}

// zone reads Z, +08:00 or +0800 at the beginning of b.
func (s *stamp) zone(b []byte) int {
	if len(b) > 0 && b[0] == 'Z' {
		s.zoned = true
		return 1
	}
	if len(b) < 5 || (b[0] != '+' && b[0] != '-') {
		return 0
	}
	n := 3
	if b[3] == ':' {
		n = 4
	}
	if len(b) < n+2 {
		return 0
	}
	h, m := digits2(b, 1), digits2(b, n)
	if h|m < 0 || h > 14 || m > 59 {
		return 0
	}
	s.zoned, s.offset = true, int32(h*3600+m*60)
	if b[0] == '-' {
		s.offset = -s.offset
	}
	return n + 2
}

// goStamp reads what Go prints of a time, such as 2017-12-04 10:09:08 +0800 CST, or any
// other stamp that isoStamp knows.
func goStamp(b []byte, s *stamp) int {
	n := isoStamp(b, s)
	if n > 0 && !s.zoned && n < len(b) && b[n] == ' ' {
		if z := s.zone(b[n+1:]); z > 1 {
			n += 1 + z
		}
	}
	return n
}
