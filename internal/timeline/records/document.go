package records

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxValue bounds one value of a document, which is kept in memory.
const maxValue = 16 << 20

// lists are the fields in which an answer has its entries: of Kubernetes, CloudWatch and
// Elasticsearch.
var lists = map[string]bool{"items": true, "events": true, "hits": true}

// isDocument reports by a file's beginning whether it is JSON, and not one object per line: an
// object or array over several lines, or an answer with a list of entries.
func isDocument(head []byte) bool {
	b := bytes.TrimLeft(head, whitespace)
	if len(b) == 0 || b[0] != '{' && b[0] != '[' {
		return false
	}
	line, rest, several := bytes.Cut(b, newline)
	line = bytes.TrimSpace(line)
	if b[0] == '[' {
		inner := bytes.TrimLeft(line[1:], whitespace)
		if len(inner) == 0 && several {
			inner = bytes.TrimLeft(rest, whitespace)
		}
		return len(inner) > 0 && inner[0] == '{'
	}
	if len(line) == 1 && several { // indented
		rest = bytes.TrimLeft(rest, whitespace)
		return len(rest) > 0 && rest[0] == '"'
	}
	listed := false
	whole := Members(line, func(key, val []byte) bool {
		listed = listed || lists[string(key)] && len(val) > 0 && (val[0] == '[' || val[0] == '{')
		return !listed
	})
	// The beginning may end in the middle of a long line.
	return listed || !whole && !several && listedLater(line)
}

// listedLater reports whether a line that is not complete begins as an answer with a list does.
func listedLater(line []byte) bool {
	for key := range lists {
		if i := bytes.Index(line, []byte(`"`+key+`":`)); i >= 0 {
			if b := bytes.TrimLeft(line[i+len(key)+3:], whitespace); len(b) > 0 && (b[0] == '[' || b[0] == '{') {
				return true
			}
		}
	}
	return false
}

// A documentReader reads a document of JSON.
type documentReader struct {
	entries
	in  *counter
	dec *json.Decoder
	// pending are the lists that were begun and not read to their end: closing delimiters that
	// are awaited, the innermost last.
	pending []json.Delim
}

func newDocumentReader(b *bufio.Reader) *documentReader {
	d := &documentReader{in: &counter{r: b}}
	d.entries = entries{next: d.value, lines: d.in.total}
	d.dec = json.NewDecoder(bounded{d})
	return d
}

// bounded is the input of the decoder, which would keep a value of any size.
type bounded struct{ d *documentReader }

var errValue = errors.New("a value is too large")

func (b bounded) Read(p []byte) (int, error) {
	if b.d.dec != nil && b.d.in.bytes-b.d.dec.InputOffset() > maxValue {
		return 0, fmt.Errorf("%w: more than %d MiB in line %d", errValue, maxValue>>20, b.d.in.lines+1)
	}
	return b.d.in.Read(p)
}

// value reads the next entry, or the beginning or end of a list.
func (d *documentReader) value() error {
	switch n := len(d.pending); {
	case n == 0:
		return d.top()
	case !d.dec.More():
		_, err := d.dec.Token()
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF // within a list
		}
		d.pending = d.pending[:n-1]
		return d.named(err)
	case d.pending[n-1] == '}':
		return d.field()
	default:
		return d.entry()
	}
}

// top reads what stands outside any list: an entry, a list, or an answer with one.
func (d *documentReader) top() error {
	if !d.dec.More() {
		_, err := d.dec.Token() // the end, or what does not belong there
		return d.named(err)
	}
	var opens [1]byte
	if _, err := d.dec.Buffered().Read(opens[:]); err != nil {
		return d.named(err)
	}
	if opens[0] == '[' || opens[0] == '{' && d.answer() {
		return d.begin()
	}
	return d.entry()
}

// entry reads a value that is an entry.
func (d *documentReader) entry() error {
	var value json.RawMessage
	if err := d.dec.Decode(&value); err != nil {
		if errors.Is(err, io.EOF) && len(d.pending) > 0 {
			err = io.ErrUnexpectedEOF
		}
		return d.named(err)
	}
	d.out = appendValue(d.out, d.in.line(d.dec.InputOffset()-int64(len(value))), value)
	return nil
}

// begin enters a list, or an answer with one. Any other value is skipped.
func (d *documentReader) begin() error {
	const deep = 8
	token, err := d.dec.Token()
	opens, _ := token.(json.Delim)
	switch {
	case err != nil:
		return d.named(err)
	case len(d.pending) >= deep:
		return errors.New("lists are nested too deeply")
	case opens != 0:
		d.pending = append(d.pending, opens+2) // [ and ], { and } are two apart
	}
	return nil
}

// field reads a field of an answer: a list is entered, others are skipped.
func (d *documentReader) field() error {
	key, err := d.dec.Token()
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return d.named(err)
	}
	if name, _ := key.(string); lists[name] {
		return d.begin()
	}
	var skipped json.RawMessage
	return d.named(d.dec.Decode(&skipped))
}

// answer reports whether the object that comes next has a list of entries, as far as its beginning
// was read.
func (d *documentReader) answer() bool {
	b, err := io.ReadAll(io.LimitReader(d.dec.Buffered(), headSize))
	if err != nil {
		return false
	}
	b = bytes.TrimLeft(b, whitespace)
	listed := false
	Members(b, func(key, val []byte) bool {
		listed = listed || lists[string(key)] && len(val) > 0 && (val[0] == '[' || val[0] == '{')
		return !listed
	})
	return listed || bytes.Count(b, newline) == 0 && listedLater(b) || listedAtTop(b)
}

// listedAtTop reports whether an indented object, maybe not complete, has a list as a field of its
// own: those of its first level have the smallest indentation.
func listedAtTop(b []byte) bool {
	_, b, ok := bytes.Cut(b, newline)
	if !ok {
		return false
	}
	deep := indent(b)
	for len(b) > 0 {
		var line []byte
		line, b, _ = bytes.Cut(b, newline)
		if indent(line) == deep && listedLater(line) {
			return true
		}
		if indent(line) < deep {
			return false
		}
	}
	return false
}

// named names the line of an error.
func (d *documentReader) named(err error) error {
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, errValue) {
		return err
	}
	return fmt.Errorf("JSON after line %d: %w", d.in.line(d.dec.InputOffset())+1, err)
}

// appendValue adds the line of a value: of what is in its envelope, else of the value itself.
func appendValue(to []byte, line uint32, value []byte) []byte {
	var e envelope
	e.read(value, 0)
	s := e.stamp()
	if e.has && !e.own && s.is() && len(e.message) > 1 && (e.message[0] == '"' || e.message[0] == '[') {
		var p parser
		text := e.message
		if text[0] == '[' {
			text = p.byteList(text)
		} else {
			text = bytes.TrimRight(p.unquote(unquoted(text)), "\r\n")
		}
		program := e.program
		if len(program) == 0 {
			program = e.comm
		}
		micros := microseconds(s.in(0, 0))
		return appendEntry(to, line, micros, e.node, program, e.pid, text)
	}
	var compact bytes.Buffer
	if json.Compact(&compact, value) != nil {
		return to
	}
	return appendEntry(to, line, nil, nil, nil, nil, compact.Bytes())
}
