package calico

import "strings"

// A scan reads JSON as Calico and the API server write it, and no other: anything unusual
// (an escape, a duplicate name or another case, null) makes it bad, and encoding/json
// decides. What it reads it reads as encoding/json would; a fuzz test verifies that.
type scan struct {
	b   []byte
	i   int
	bad bool
}

// peek returns the next byte that is not white space; 0 at the end.
func (s *scan) peek() byte {
	for ; s.i < len(s.b); s.i++ {
		switch c := s.b[s.i]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

// take skips c if it is next.
func (s *scan) take(c byte) bool {
	if s.bad || s.peek() != c {
		return false
	}
	s.i++
	return true
}

func (s *scan) need(c byte) {
	if !s.take(c) {
		s.bad = true
	}
}

// end reports whether everything was read and nothing was unusual.
func (s *scan) end() bool { return s.peek() == 0 && s.i == len(s.b) && !s.bad }

// object calls member for each, which reads or skips the value.
func (s *scan) object(member func(name []byte)) {
	s.need('{')
	if s.take('}') {
		return
	}
	for !s.bad {
		name := s.text()
		s.need(':')
		if s.bad {
			return
		}
		member(name)
		if !s.take(',') {
			s.need('}')
			return
		}
	}
}

// array calls element for each, which reads or skips it.
func (s *scan) array(element func()) {
	s.need('[')
	if s.take(']') {
		return
	}
	for !s.bad {
		element()
		if !s.take(',') {
			s.need(']')
			return
		}
	}
}

// which finds a member's name among the known ones; -1 if it is none of them.
func (s *scan) which(name []byte, known []string, seen *uint) int {
	for i, k := range known {
		if string(name) == k {
			s.bad = s.bad || *seen&(1<<i) != 0
			*seen |= 1 << i
			return i
		}
	}
	for _, k := range known {
		if len(k) == len(name) && strings.EqualFold(k, string(name)) {
			s.bad = true
		}
	}
	return -1
}

// text reads a string of printable ASCII without escapes.
func (s *scan) text() []byte {
	s.need('"')
	for i := s.i; i < len(s.b) && !s.bad; i++ {
		switch c := s.b[i]; {
		case c == '"':
			t := s.b[s.i:i]
			s.i = i + 1
			return t
		case c < ' ' || c >= 0x7f || c == '\\':
			s.bad = true
		}
	}
	s.bad = true
	return nil
}

// number reads a whole number of at most 19 digits, which always fit.
func (s *scan) number() (n uint64, negative bool) {
	negative = s.take('-')
	start := s.i
	for ; s.i < len(s.b) && s.b[s.i] >= '0' && s.b[s.i] <= '9'; s.i++ {
		n = n*10 + uint64(s.b[s.i]-'0')
	}
	digits := s.i - start
	if digits == 0 || digits > 19 || digits > 1 && s.b[start] == '0' {
		s.bad = true
	}
	return n, negative
}

// small reads a number that fits into 32 bits.
func (s *scan) small() int32 {
	n, negative := s.number()
	if n > 1<<31-1 {
		s.bad = true
		return 0
	}
	if negative {
		return -int32(n)
	}
	return int32(n)
}

// word skips true, false or null if it is next.
func (s *scan) word(w string) bool {
	s.peek()
	if s.bad || len(s.b)-s.i < len(w) || string(s.b[s.i:s.i+len(w)]) != w {
		return false
	}
	s.i += len(w)
	return true
}

func (s *scan) boolean() bool {
	if s.word("true") {
		return true
	}
	if !s.word("false") {
		s.bad = true
	}
	return false
}
