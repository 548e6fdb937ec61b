package records

import (
	"cmp"
	"fmt"
	"io"
	"time"

	"plumbline.dev/plumbline/internal/timeline"
)

// fileParser handles the chunks of one file in file order: it parses the wanted lines again, now
// with what the lines before them show (year, zone, line number), and passes them on.
type fileParser struct {
	file    *timeline.File
	number  uint16
	zone    *time.Location
	begun   bool
	clock   clock
	tell    func(*Record)
	parser  parser
	joined  []byte
	long    int
	skipped int64
}

// chunk passes on the wanted records of one chunk. The turns of the chunk are applied at their
// lines, all of them by its end.
func (t *fileParser) chunk(j *job) {
	turns := j.found.turns
	if !t.begun {
		t.begin(j)
	}
	t.clock.chunk(j.found.dates)
	for _, s := range j.found.spans {
		for len(turns) > 0 && turns[0].line <= s.line {
			t.clock.turn(turns[0])
			turns = turns[1:]
		}
		t.record(j.buf, s)
	}
	for _, turn := range turns {
		t.clock.turn(turn)
	}
	if j.found.dates.last != 0 {
		t.clock.day = j.found.dates.last
	}
	t.unknown(j)
	t.file.Lines += j.found.lines
	t.long += j.found.long
	t.skipped += j.found.skipped
	if at := t.ends(j.buf); !at.IsZero() {
		t.file.Ends = at
	}
}

// unknown notes the lines of no known form, and keeps the first of them.
func (t *fileParser) unknown(j *job) {
	f, n := t.file, j.found.unknown
	f.Understood += j.found.known
	if f.Unknown == 0 && n > 0 {
		s := j.found.sample
		line, at := j.buf[s.start:s.end], f.Number(f.Lines+s.line+1)
		if j.export {
			t.parser.parse(line)
			line, at = t.parser.rec.Raw, t.parser.line+1
		}
		f.Sample, f.SampleAt, f.Guess = sampleOf(line), at, guess(line)
	}
	f.Unknown += n
}

// begin sets year and zone for the whole file from its beginning.
func (t *fileParser) begin(j *job) {
	t.begun = true
	if j.head > 0 {
		t.clock.anchor = j.found.anchor
	}
	t.clock.zone(t.zone)
	t.file.East, t.file.Zoned = t.clock.anchor.offset, t.clock.anchor.zoned
}

func (t *fileParser) record(buf []byte, s span) {
	line := buf[s.start:s.end]
	if s.wrapped > 1 {
		t.joined = s.unwrap(t.joined[:0], line)
		line = t.joined
	}
	p := &t.parser
	r := &p.rec
	r.At = t.parsed(line)
	r.Zone = t.clock.zoneOf
	r.Node = cmp.Or(r.Node, t.file.Node)
	r.Place = timeline.Place{File: t.number, Line: t.file.Lines + s.line + 1}
	if p.export && t.file.Turned == nil {
		r.Place.Line = p.line + 1
	}
	if t.tell != nil {
		t.tell(r)
	}
}

// parsed parses a line and gives its time.
func (t *fileParser) parsed(line []byte) time.Time {
	p := &t.parser
	p.parse(line)
	if p.rec.Style == JSON && !p.outer.is() {
		p.inner = jsonStamp(p.rec.Text)
	}
	return t.clock.at(&p.outer, &p.inner)
}

// end sets what is known of the file after its last line.
func (t *fileParser) end(c *chunker, lines io.Reader) {
	f := t.file
	f.Bytes = c.bytes
	if e, ok := lines.(entryReader); ok {
		f.Lines, f.Bytes = e.total()
		f.Left = append(f.Left, e.left()...)
	}
	f.Own = t.clock.anchor.own || len(t.clock.zones) > 0
	if n := len(t.clock.zones); n > 1 || n == 1 && !f.Zoned {
		f.Zones = t.clock.zones
	}
	f.Guessed, f.Ahead = append(f.Guessed, t.clock.guessed()...), int64(t.clock.ahead.Seconds())
	if long := t.long + c.long; long > 0 {
		f.Left = append(f.Left, fmt.Sprintf("the part of lines beyond %d KiB: %d bytes in %d lines", maxLine>>10, t.skipped+c.skipped, long))
	}
}
