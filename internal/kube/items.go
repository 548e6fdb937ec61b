package kube

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Bounds of what an API server may send.
const (
	maxObject = 10 << 20
	maxDepth  = 256
)

// ErrTooBig means that an object exceeds the limits.
var ErrTooBig = errors.New("object exceeds 10 MB or is nested too deep")

type listMeta struct {
	ResourceVersion string `json:"resourceVersion"`
	Continue        string `json:"continue"`
}

// eachItem splits a JSON list into its items as they arrive; only one is held at a time.
func eachItem(r io.Reader, each func(item []byte) error) (listMeta, error) {
	s := splitter{in: r, buf: make([]byte, 256<<10)}
	meta, err := s.list(each)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errTruncated // rows of an incomplete answer are not used
	}
	return meta, err
}

// A splitter scans what it has read in place; a value is a part of its buffer.
type splitter struct {
	in       io.Reader
	buf      []byte
	pos, end int
	item     []byte // the last value; valid until the next is read
}

func (s *splitter) list(each func([]byte) error) (meta listMeta, err error) {
	if err := s.expect('{'); err != nil {
		return meta, err
	}
	for {
		key, end, err := s.key()
		if err != nil || end {
			return meta, err
		}
		switch key {
		case "items":
			err = s.items(each)
		case "metadata":
			if err = s.value(); err == nil {
				err = json.Unmarshal(s.item, &meta)
			}
		default:
			err = s.value()
		}
		if err != nil {
			return meta, err
		}
	}
}

func (s *splitter) items(each func([]byte) error) error {
	c, err := s.next()
	if err != nil {
		return err
	}
	if c == 'n' { // null: no items
		s.pos--
		return s.value()
	}
	if c != '[' {
		return fmt.Errorf("items begins with %q", c)
	}
	for {
		c, err := s.next()
		if err != nil {
			return err
		}
		switch c {
		case ']':
			return nil
		case ',':
			continue
		}
		s.pos--
		if err := s.value(); err != nil {
			return err
		}
		if err := each(s.item); err != nil {
			return err
		}
	}
}

// key reads the next field's name, or the end of the object.
func (s *splitter) key() (string, bool, error) {
	for {
		c, err := s.next()
		if err != nil {
			return "", false, err
		}
		switch c {
		case '}':
			return "", true, nil
		case ',':
			continue
		case '"':
			s.pos--
			if err := s.value(); err != nil {
				return "", false, err
			}
			var k string
			if err := json.Unmarshal(s.item, &k); err != nil {
				return "", false, err
			}
			return k, false, s.expect(':')
		default:
			return "", false, fmt.Errorf("unexpected %q", c)
		}
	}
}

// value finds the end of one JSON value. Its syntax is checked by the parser of the value.
func (s *splitter) value() error {
	if _, err := s.next(); err != nil {
		return err
	}
	s.pos--
	start, depth := s.pos, 0
	for {
		if s.pos == s.end {
			moved, err := s.more(start)
			if err != nil {
				return err
			}
			start -= moved
		}
		c := s.buf[s.pos]
		if depth == 0 && endsScalar(c) {
			s.item = s.buf[start:s.pos]
			return nil
		}
		switch c {
		case '"':
			moved, err := s.text(start)
			if err != nil {
				return err
			}
			start -= moved
		case '{', '[':
			depth++
			s.pos++
		case '}', ']':
			depth--
			s.pos++
		default:
			s.pos++
			continue
		}
		if depth > maxDepth {
			return ErrTooBig
		}
		if depth == 0 {
			s.item = s.buf[start:s.pos]
			return nil
		}
	}
}

// endsScalar reports whether a number, true, false or null ends before c: the list goes on, or
// the enclosing object or array ends.
func endsScalar(c byte) bool { return c == ',' || c == '}' || c == ']' || c <= ' ' }

// text skips a string, whose first quote is at pos. A quote after an odd number of
// backslashes is part of it.
func (s *splitter) text(start int) (moved int, err error) {
	s.pos++
	for from := s.pos; ; { // where it begins
		i := bytes.IndexByte(s.buf[s.pos:s.end], '"')
		if i >= 0 {
			s.pos += i + 1
			n := s.pos - 2
			for n >= from && s.buf[n] == '\\' {
				n--
			}
			if (s.pos-2-n)%2 == 0 {
				return moved, nil
			}
			continue
		}
		s.pos = s.end
		n, err := s.more(start - moved)
		if err != nil {
			return moved, err
		}
		moved += n
		from -= n
	}
}

// more reads on and keeps what there is from start. It returns by how much the data moved.
func (s *splitter) more(start int) (moved int, err error) {
	if start > 0 {
		copy(s.buf, s.buf[start:s.end])
		s.pos, s.end, moved = s.pos-start, s.end-start, start
	}
	if s.end > maxObject { // one value fills the buffer and has no end
		return moved, ErrTooBig
	}
	if s.end == len(s.buf) {
		s.buf = append(s.buf, make([]byte, len(s.buf))...)
	}
	for {
		n, err := s.in.Read(s.buf[s.end:])
		s.end += n
		if n > 0 {
			return moved, nil
		}
		if err != nil {
			return moved, err
		}
	}
}

func (s *splitter) next() (byte, error) {
	for {
		if s.pos == s.end {
			if _, err := s.more(s.end); err != nil {
				return 0, err
			}
		}
		c := s.buf[s.pos]
		s.pos++
		if c > ' ' {
			return c, nil
		}
	}
}

func (s *splitter) expect(want byte) error {
	c, err := s.next()
	if err == nil && c != want {
		err = fmt.Errorf("want %q, got %q", want, c)
	}
	return err
}

// Message is the message of a Status object, or the text itself.
func Message(b []byte) string {
	var s struct{ Message string }
	if json.Unmarshal(b, &s) == nil && s.Message != "" {
		return s.Message
	}
	return string(b)
}
