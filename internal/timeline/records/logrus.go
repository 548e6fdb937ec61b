package records

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// logrus reads time="…" level=info msg="…" key=value.
func (p *parser) logrus(b []byte) bool {
	if len(b) > 6 && string(b[:5]) == "time=" {
		stamped, rest := Value(b[5:])
		if isoStamp(stamped, &p.inner) == 0 || len(rest) == 0 {
			p.inner.month = 0
			return false
		}
		b = afterSpace(rest)
	}
	if len(b) < 8 || string(b[:6]) != "level=" {
		p.inner.month = 0
		return false
	}
	level, rest := Value(b[6:])
	p.rec.Style, p.rec.Level = Logrus, levelOf(level)
	b = afterSpace(rest)
	p.body = b
	if len(b) < 4 || string(b[:4]) != "msg=" {
		p.rec.Fields = b // a message may be missing, or stand after its fields
		return true
	}
	text, rest := Value(b[4:])
	p.rec.Fields = afterSpace(rest)
	p.rec.Text = p.unquote(text)
	return true
}

// Value takes the value off that b begins with, without its quotes but with its escapes.
// One whose quote never closes goes to the end.
func Value(b []byte) (v, rest []byte) {
	if len(b) == 0 || b[0] != '"' {
		if i := bytes.IndexByte(b, ' '); i >= 0 {
			return b[:i], b[i:]
		}
		return b, nil
	}
	if end := closing(b[1:]); end >= 0 {
		return b[1 : end+1], b[end+2:]
	}
	return b[1:], nil
}

// closing finds the first quote in b that is not escaped, -1 if there is none.
func closing(b []byte) int {
	from := 0
	for {
		i := bytes.IndexByte(b[from:], '"')
		if i < 0 {
			return -1
		}
		i += from
		escapes := 0
		for escapes < i-from && b[i-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return i
		}
		from = i + 1
	}
}

// unquote takes the escapes out of b. What has none costs nothing.
func (p *parser) unquote(b []byte) []byte {
	i := bytes.IndexByte(b, '\\')
	if i < 0 {
		return b
	}
	start := len(p.scratch)
	for i >= 0 {
		p.scratch = append(p.scratch, b[:i]...)
		b = p.escape(b[i:])
		i = bytes.IndexByte(b, '\\')
	}
	p.scratch = append(p.scratch, b...)
	return p.scratch[start:len(p.scratch):len(p.scratch)]
}

// escape adds what the escape that b begins with stands for, as JSON and Go write them,
// and gives what follows it. What is no escape stays as it is.
func (p *parser) escape(b []byte) []byte {
	if len(b) < 2 {
		p.scratch = append(p.scratch, b...)
		return nil
	}
	size := 0
	switch c := b[1]; c {
	case 'n':
		p.scratch = append(p.scratch, '\n')
	case 't':
		p.scratch = append(p.scratch, '\t')
	case 'r':
		p.scratch = append(p.scratch, '\r')
	case '"', '\\', '/', '\'':
		p.scratch = append(p.scratch, c)
	case 'x':
		size = 2
	case 'u':
		size = 4
	case 'U':
		size = 8
	default:
		p.scratch = append(p.scratch, b[:2]...)
	}
	if size == 0 {
		return b[2:]
	}
	code, ok := hex(b[2:], size)
	switch {
	case !ok:
		p.scratch = append(p.scratch, b[:2]...)
		return b[2:]
	case size == 2:
		p.scratch = append(p.scratch, byte(code))
	default:
		p.scratch = utf8.AppendRune(p.scratch, rune(code))
	}
	return b[2+size:]
}

// hex reads so many hexadecimal digits at the beginning of b.
func hex(b []byte, size int) (uint32, bool) {
	if len(b) < size {
		return 0, false
	}
	v, err := strconv.ParseUint(string(b[:size]), 16, 32)
	return uint32(v), err == nil
}
