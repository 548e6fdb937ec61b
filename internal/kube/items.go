package kube

import (
	"bufio"
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

// ErrTooBig means that an object exceeds what we are willing to hold.
var ErrTooBig = errors.New("object exceeds 10 MB or is nested too deep")

type listMeta struct {
	ResourceVersion string `json:"resourceVersion"`
	Continue        string `json:"continue"`
}

// eachItem cuts a JSON list into its items as they arrive; only one is held at a time.
func eachItem(r io.Reader, each func(item []byte) error) (listMeta, error) {
	s := splitter{in: bufio.NewReaderSize(r, 64<<10)}
	meta, err := s.list(each)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = ErrTruncated // rows of half an answer are no rows
	}
	return meta, err
}

type splitter struct {
	in  *bufio.Reader
	buf bytes.Buffer
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
				err = json.Unmarshal(s.buf.Bytes(), &meta)
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
		_, err = io.ReadFull(s.in, make([]byte, 3))
		return err
	}
	if c != '[' {
		return fmt.Errorf("items begin with %q", c)
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
		if err := s.in.UnreadByte(); err != nil {
			return err
		}
		if err := s.value(); err != nil {
			return err
		}
		if err := each(s.buf.Bytes()); err != nil {
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
			if err := s.in.UnreadByte(); err != nil {
				return "", false, err
			}
			if err := s.value(); err != nil {
				return "", false, err
			}
			var k string
			if err := json.Unmarshal(s.buf.Bytes(), &k); err != nil {
				return "", false, err
			}
			return k, false, s.expect(':')
		default:
			return "", false, fmt.Errorf("unexpected %q", c)
		}
	}
}

// value copies one JSON value into the buffer. Its syntax is checked by whoever parses it.
func (s *splitter) value() error {
	s.buf.Reset()
	c, err := s.next()
	if err != nil {
		return err
	}
	depth, inString, escaped := 0, false, false
	for {
		s.buf.WriteByte(c)
		if s.buf.Len() > maxObject || depth > maxDepth {
			return ErrTooBig
		}
		switch {
		case escaped:
			escaped = false
		case inString && c == '\\':
			escaped = true
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		}
		if depth == 0 && !inString && (c == '}' || c == ']' || c == '"') {
			return nil
		}
		p, err := s.in.Peek(1)
		if err != nil {
			return err
		}
		if depth == 0 && !inString && (p[0] == ',' || p[0] == '}' || p[0] == ']' || p[0] <= ' ') {
			return nil // the end of a number, true, false or null
		}
		if c, err = s.in.ReadByte(); err != nil {
			return err
		}
	}
}

func (s *splitter) next() (byte, error) {
	for {
		c, err := s.in.ReadByte()
		if err != nil || c > ' ' {
			return c, err
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

// message is what a Status object says, or the text itself.
func message(b []byte) string {
	var s struct{ Message string }
	if json.Unmarshal(b, &s) == nil && s.Message != "" {
		return s.Message
	}
	return string(b)
}
