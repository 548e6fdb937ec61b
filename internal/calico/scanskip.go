package calico

// maxSkip is the deepest nesting that skip handles; deeper values go to encoding/json.
const maxSkip = 64

// skip skips a value of any kind. It must be as valid as if it were read.
func (s *scan) skip(depth int) {
	if depth > maxSkip {
		s.bad = true
	}
	if s.bad {
		return
	}
	switch c := s.peek(); {
	case c == '"':
		s.skipText()
	case c == '{':
		s.skipObject(depth)
	case c == '[':
		s.array(func() { s.skip(depth + 1) })
	case c == '-' || c >= '0' && c <= '9':
		s.number() // with a fraction or an exponent, what follows is unexpected
	case !s.word("true") && !s.word("false") && !s.word("null"):
		s.bad = true
	}
}

// skipObject skips an object. Unlike in object, its names may have escapes.
func (s *scan) skipObject(depth int) {
	s.i++
	if s.take('}') {
		return
	}
	for more := true; more && !s.bad; more = s.take(',') {
		if s.peek() != '"' {
			s.bad = true
			return
		}
		s.skipText()
		s.need(':')
		s.skip(depth + 1)
	}
	s.need('}')
}

// skipText skips a string, whose quote is next.
func (s *scan) skipText() {
	b := s.b
	for i := s.i + 1; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			s.i = i + 1
			return
		case c < ' ':
			s.bad = true
			return
		case c == '\\':
			if i++; i < len(b) && !escapes[b[i]] {
				s.bad = true // including \u, which is rare in skipped values
				return
			}
		}
	}
	s.bad = true
}

var escapes = [256]bool{'"': true, '\\': true, '/': true, 'b': true, 'f': true, 'n': true, 'r': true, 't': true}
