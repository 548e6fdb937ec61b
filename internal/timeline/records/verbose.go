package records

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"time"
)

// isVerbose reports by a file's beginning whether it is of journalctl -o verbose: a line with the
// time and the entry's cursor, then its fields, indented.
func isVerbose(head []byte) bool {
	line, rest, _ := bytes.Cut(head, newline)
	_, ok := verboseTime(line)
	return ok && bytes.HasPrefix(rest, []byte("    "))
}

// verboseTime reads Sun 2026-11-15 13:06:20.984995 UTC [s=…]. The name of a zone other than UTC
// does not tell the time.
func verboseTime(line []byte) (time.Time, bool) {
	const layout = "Mon 2006-01-02 15:04:05.000000"
	if len(line) < len(layout)+5 || !bytes.Contains(line, []byte(" [s=")) {
		return time.Time{}, false
	}
	t, err := time.Parse(layout, string(line[:len(layout)]))
	if err != nil {
		return time.Time{}, false
	}
	if !bytes.HasPrefix(line[len(layout):], []byte(" UTC ")) {
		t = time.Time{}
	}
	return t, true
}

// A verboseReader reads journalctl -o verbose.
type verboseReader struct {
	entries
	r     *bufio.Reader
	entry exportReader // whose fields and whose end of an entry are the same
}

func newVerboseReader(b *bufio.Reader) *verboseReader {
	v := &verboseReader{r: b}
	v.entry.r = b
	v.entries = entries{next: v.field, lines: func() (uint32, int64) { return v.entry.line, v.entry.bytes }}
	return v
}

// field reads one line.
func (v *verboseReader) field() error {
	line, err := v.entry.until('\n')
	if len(line) > 0 {
		v.take(trimReturn(line))
		v.entry.line++
	}
	if errors.Is(err, io.EOF) {
		v.flush()
	}
	return err
}

func (v *verboseReader) take(line []byte) {
	if at, ok := verboseTime(line); ok {
		v.flush()
		v.entry.entry.line, v.entry.entry.any = v.entry.line, true
		if !at.IsZero() {
			v.entry.take([]byte("__REALTIME_TIMESTAMP"), microseconds(at))
		}
		return
	}
	if name, val, ok := bytes.Cut(bytes.TrimLeft(line, " "), []byte("=")); ok && fieldName(name) {
		v.entry.take(name, val)
	}
}

func (v *verboseReader) flush() {
	v.entry.flush()
	v.out = append(v.out, v.entry.out...)
	v.entry.out = v.entry.out[:0]
}
