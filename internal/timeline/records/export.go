package records

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// An exportReader turns journalctl -o export into lines, one per entry: the entry's line in the
// file, its time in microseconds, node, program, process and message.
type exportReader struct {
	r     *bufio.Reader
	line  uint32 // lines read so far
	bytes int64  // and bytes
	entry exportEntry
	out   []byte // of which Read has given
	given int
	err   error
}

type exportEntry struct {
	line                         uint32
	time, node, program, process []byte
	comm, message                []byte
	any                          bool
}

// isExport reports by a file's beginning whether it is of journalctl -o export.
func isExport(head []byte) bool {
	line, _, _ := bytes.Cut(head, newline)
	name, _, ok := bytes.Cut(line, []byte("="))
	return ok && fieldName(name) && bytes.Contains(head, []byte("__REALTIME_TIMESTAMP="))
}

func fieldName(b []byte) bool {
	for _, c := range b {
		if c != '_' && (c < 'A' || c > 'Z') && (c < '0' || c > '9') {
			return false
		}
	}
	return len(b) > 0 && len(b) <= 64
}

func (e *exportReader) Read(b []byte) (int, error) {
	for e.given == len(e.out) {
		if e.err != nil {
			return 0, e.err
		}
		e.out, e.given = e.out[:0], 0
		e.err = e.next()
	}
	n := copy(b, e.out[e.given:])
	e.given += n
	return n, nil
}

// next reads one field, or the empty line that ends an entry.
func (e *exportReader) next() error {
	name, err := e.until('\n')
	if len(name) == 0 {
		if err == nil {
			e.line++
		}
		e.flush()
		return err
	}
	if !e.entry.any {
		e.entry.line, e.entry.any = e.line, true
	}
	e.line++
	name, val, text := bytes.Cut(name, []byte("="))
	if text {
		e.take(name, val)
	} else if err == nil {
		err = e.binary(string(name))
	}
	if errors.Is(err, io.EOF) {
		e.flush()
	}
	return err
}

// until reads up to an end of line, and keeps as much of it as a line may have.
func (e *exportReader) until(end byte) ([]byte, error) {
	line, err := e.r.ReadSlice(end)
	e.bytes += int64(len(line))
	if err == nil {
		return line[:len(line)-1], nil
	}
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, err
	}
	kept := bytes.Clone(line)
	for errors.Is(err, bufio.ErrBufferFull) {
		line, err = e.r.ReadSlice(end)
		e.bytes += int64(len(line))
		kept = append(kept, line[:min(len(line), max(0, maxLine-len(kept)))]...)
	}
	return bytes.TrimSuffix(kept, []byte{end}), err
}

// binary reads a field that is given with its length: eight bytes, then the value.
func (e *exportReader) binary(name string) error {
	var size [8]byte
	if _, err := io.ReadFull(e.r, size[:]); err != nil {
		return fmt.Errorf("length of field %s in line %d: %w", name, e.line, err)
	}
	n := binary.LittleEndian.Uint64(size[:])
	if n > 1<<32 {
		return fmt.Errorf("field %s in line %d would be %d bytes long", name, e.line, n)
	}
	val, err := io.ReadAll(io.LimitReader(e.r, int64(min(n, maxLine))))
	if err != nil {
		return fmt.Errorf("field %s in line %d: %w", name, e.line, err)
	}
	e.line += uint32(bytes.Count(size[:], newline) + bytes.Count(val, newline) + 1)
	e.bytes += int64(n) + 9
	e.take([]byte(name), val)
	if n > maxLine {
		if _, err = io.CopyN(io.Discard, e.r, int64(n-maxLine)); err != nil {
			return fmt.Errorf("field %s in line %d: %w", name, e.line, err)
		}
	}
	_, err = e.r.ReadByte()
	return err
}

func (e *exportReader) take(name, val []byte) {
	keep := func(to *[]byte) { *to = append((*to)[:0], val...) }
	switch string(name) {
	case "__REALTIME_TIMESTAMP":
		keep(&e.entry.time)
	case "_HOSTNAME":
		keep(&e.entry.node)
	case "SYSLOG_IDENTIFIER":
		keep(&e.entry.program)
	case "_COMM":
		keep(&e.entry.comm)
	case "_PID":
		keep(&e.entry.process)
	case "MESSAGE":
		keep(&e.entry.message)
	}
}

// flush writes the entry's line, and makes room for the next.
func (e *exportReader) flush() {
	n := &e.entry
	if n.any && len(n.message) > 0 {
		if len(n.program) == 0 {
			n.program = append(n.program, n.comm...)
		}
		e.out = appendEntry(e.out, n.line, n.time, n.node, n.program, n.process, n.message)
	}
	*n = exportEntry{
		time: n.time[:0], node: n.node[:0], program: n.program[:0], process: n.process[:0],
		comm: n.comm[:0], message: n.message[:0],
	}
}

func (e *exportReader) total() (lines uint32, bytes int64) { return e.line, e.bytes }

func (e *exportReader) left() []string { return nil }

// An entryReader turns entries of a journal into lines, which parser knows by its field export.
type entryReader interface {
	io.Reader
	total() (lines uint32, bytes int64) // read so far
	left() []string                     // what was not read, and why
}

// appendEntry adds the line of an entry.
func appendEntry(to []byte, line uint32, time, node, program, process, message []byte) []byte {
	to = strconv.AppendUint(to, uint64(line), 10)
	for _, word := range [][]byte{time, node, program, process} {
		to = append(to, ' ')
		to = appendWord(to, word, ' ', '_')
	}
	to = append(to, ' ')
	to = appendWord(to, message, '\n', ' ')
	return append(to, '\n')
}

// appendWord adds a value in which what would end it is something else.
func appendWord(to, word []byte, end, instead byte) []byte {
	for _, c := range word {
		if c == end || c == '\n' {
			c = instead
		}
		to = append(to, c)
	}
	return to
}

// exported reads a line that an entryReader made.
func (p *parser) exported(b []byte) bool {
	var word [5][]byte // line, time, node, program, process
	for i := range word {
		at := bytes.IndexByte(b, ' ')
		if at < 0 {
			return false
		}
		word[i], b = b[:at], b[at+1:]
	}
	line, _ := number(word[0])
	p.line, p.outer, p.sealed = uint32(line), epoch(word[1]), true
	p.rec.Node, p.rec.Program, p.rec.Raw = p.names.of(word[2]), p.names.of(word[3]), b
	p.rec.PID, _ = number(word[4])
	return p.message(b)
}
