package read

import (
	"fmt"
	"io"

	"plumbline.dev/plumbline/internal/forensics"
)

// told is the ordered side of reading a file: it reads the wanted lines once more, now
// knowing what came before them, and passes them on.
type told struct {
	file    *forensics.File
	number  uint16
	clock   clock
	tell    func(*Record)
	names   names
	parser  parser
	joined  []byte
	long    int
	skipped int64
}

// chunk tells of one chunk's wanted records.
func (t *told) chunk(j *job) {
	t.parser.names = &t.names
	turns := j.found.turns
	t.clock.chunk(j.found.dates)
	for _, s := range j.found.spans {
		for len(turns) > 0 && turns[0].line <= s.line {
			t.clock.year += int(turns[0].years)
			turns = turns[1:]
		}
		t.record(j.buf, s)
	}
	for _, turn := range turns {
		t.clock.year += int(turn.years)
	}
	if j.found.dates.last != 0 {
		t.clock.day = j.found.dates.last
	}
	t.file.Lines += j.found.lines
	t.long += j.found.long
	t.skipped += j.found.skipped
}

func (t *told) record(buf []byte, s span) {
	line := buf[s.start:s.end]
	if s.wrapped > 1 {
		t.joined = unwrap(t.joined[:0], line)
		line = t.joined
	}
	p := &t.parser
	p.parse(line)
	r := &p.rec
	if r.Style == JSON && !p.outer.is() {
		p.inner = jsonStamp(r.Text)
	}
	r.At = t.clock.at(&p.outer, &p.inner)
	if r.Node == "" {
		r.Node = t.file.Node
	}
	r.Place = forensics.Place{File: t.number, Line: t.file.Lines + s.line + 1}
	if p.export {
		r.Place.Line = p.line + 1
	}
	if t.tell != nil {
		t.tell(r)
	}
}

// end says what is to be said of the file as a whole.
func (t *told) end(c *chunker, lines io.Reader) {
	f := t.file
	f.Bytes = c.bytes
	if e, ok := lines.(*exportReader); ok {
		f.Lines, f.Bytes = e.line, e.bytes
	}
	f.Guessed = append(f.Guessed, t.clock.guessed()...)
	if long := t.long + c.long; long > 0 {
		f.Left = append(f.Left, fmt.Sprintf("what lines have beyond %d KiB: %d bytes, in %d of them", maxLine>>10, t.skipped+c.skipped, long))
	}
}
