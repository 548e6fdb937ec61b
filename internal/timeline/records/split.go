package records

import "bytes"

// A splitter finds the wanted records of chunks. It belongs to one goroutine and reuses its
// buffers.
type splitter struct {
	wants  func(*Record) bool
	knows  func(*Record) bool
	names  names
	two    [2]parser // the line before, which may continue, and the current line
	line   parser    // of wrapped lines
	joined []byte
}

// telling is the length of a line that tells what a file may be.
const telling = 16

// A found is what a splitter found in one chunk.
type found struct {
	spans   []span
	turns   []turn
	dates   dates
	anchor  anchor // from the part of the chunk that is the file's beginning
	lines   uint32
	known   uint32 // lines of a known form
	unknown uint32 // lines of no known form
	sample  span   // the first of them, if possible one that tells something
	long    int    // lines that were cut
	skipped int64  // bytes of them
}

// split reads a chunk, which begins with a line that does not continue another. Its first head
// bytes are searched for an anchor.
func (s *splitter) split(chunk []byte, head int, export bool, out *found) {
	*out = found{spans: out.spans[:0], turns: out.turns[:0]}
	for i := range s.two {
		s.two[i].names, s.two[i].export, s.two[i].headed = &s.names, export, false
	}
	s.line.names, s.line.export = &s.names, export
	last, next := &s.two[0], &s.two[1]
	var at span
	var j joiner
	var a anchoring
	var zones zoning
	held := false
	for start := 0; start < len(chunk); out.lines++ {
		end := start + bytes.IndexByte(chunk[start:], '\n')
		after := end + 1
		if end < start {
			end, after = len(chunk), len(chunk)
		}
		if end-start > maxLine {
			out.long, out.skipped = out.long+1, out.skipped+int64(end-start-maxLine)
			end = start + maxLine
		}
		line := chunk[start:end]
		if isBlank(line) {
			s.keep(held, last, at, chunk, out)
			a.blank()
			held, start = false, after
			continue
		}
		next.parse(line)
		if start < head && !a.found() {
			a.see(next)
		}
		if held && !next.headed && j.joins(last, &at, line, end) || held && last.continues(next, &at, end) {
			start = after
			continue
		}
		s.keep(held, last, at, chunk, out)
		if next.headed {
			out.dates.see(next, out)
			zones.see(next, out)
		}
		at, j, held = span{uint32(start), uint32(end), out.lines, 1, next.partial}, joiner{}, true
		last, next = next, last
		start = after
	}
	s.keep(held, last, at, chunk, out)
	out.anchor = a.anchor
}

// isBlank reports whether a line has only white space.
func isBlank(line []byte) bool {
	return len(line) == 0 || line[0] <= ' ' && len(bytes.TrimSpace(line)) == 0
}

// keep adds a logical line that has ended to out, if it is wanted.
func (s *splitter) keep(held bool, p *parser, at span, chunk []byte, out *found) {
	if !held {
		return
	}
	if at.wrapped > 1 {
		s.joined = at.unwrap(s.joined[:0], chunk[at.start:at.end])
		s.line.parse(s.joined)
		p = &s.line
	}
	switch {
	case s.wants(&p.rec):
		out.spans = append(out.spans, at)
		out.known += at.wrapped
	case s.knows(&p.rec):
		out.known += at.wrapped
	default:
		if short := out.sample.end-out.sample.start < telling; out.unknown == 0 || short && at.end-at.start >= telling {
			out.sample = at
		}
		out.unknown += at.wrapped
	}
}
