package records

import "bytes"

// Wrapped lines are joined up to these bounds; a line alone is cut at the second.
const (
	maxWrapped = 64
	maxLine    = 256 << 10
)

// A span is a logical line in a chunk: one line of the file, or several that were one
// before somebody wrapped them.
type span struct {
	start, end uint32 // in the chunk, without the last line's end
	line       uint32 // its first line in the chunk, from zero
	wrapped    uint32 // how many lines it has
	partial    bool   // a container runtime cut it, and its lines have headers
}

// joiner decides whether a line without a header continues the one before it.
type joiner struct {
	balance balance
	fed     bool // balance has read the span so far
	empty   bool // the message has not begun yet
}

// joins reports whether a line continues the span whose header p has read. It must be certain: the
// line is indented deeper than the header, or a quote or bracket is still open.
func (j *joiner) joins(p *parser, s *span, line []byte, end int) bool {
	if !p.headed || p.sealed || p.export || s.wrapped >= maxWrapped || end-int(s.start) > maxLine {
		return false
	}
	deep := indent(line)
	text := line[deep:]
	if elided(text) || deep < p.indent {
		return false
	}
	if !j.fed {
		j.balance, j.fed = balance{}, true
		j.balance.feed(p.body)
		j.empty = len(bytes.TrimSpace(p.body)) == 0 && p.rec.Style != Plain
	}
	if deep == p.indent && !j.empty && !j.balance.open() {
		return false
	}
	j.balance.feed(text)
	j.empty = false
	s.wrapped++
	s.end = uint32(end)
	return true
}

// elided reports whether a line marks an omission or the end of a code block: the lines after it
// do not continue those before.
func elided(b []byte) bool {
	return bytes.HasPrefix(b, []byte("...")) || bytes.HasPrefix(b, []byte("```"))
}

// continues reports whether a line is the rest of the one that p has read, which a container
// runtime has cut because it is long.
func (p *parser) continues(next *parser, s *span, end int) bool {
	if !p.partial || next.stream != p.stream || end-int(s.start) > maxLine {
		return false
	}
	s.wrapped++
	s.end = uint32(end)
	p.partial = next.partial
	return true
}

// unwrap gives the span's text before it was wrapped: line breaks and the indentation or the
// headers of the following lines are removed.
func (s *span) unwrap(into, b []byte) []byte {
	if s.partial {
		return uncut(into, b)
	}
	return unwrap(into, b)
}

// uncut joins lines that a container runtime has cut.
func uncut(into, b []byte) []byte {
	for first := true; len(b) > 0; first = false {
		line, rest, _ := bytes.Cut(b, newline)
		line = trimReturn(line)
		var at stamp
		if n := isoStamp(line, &at); !first && n > 0 && len(line) > n {
			line, _ = containerStream(line[n+1:])
		}
		into, b = append(into, line...), rest
	}
	return into
}

// unwrap joins lines that somebody wrapped.
func unwrap(into, b []byte) []byte {
	for first := true; len(b) > 0; first = false {
		line, rest, _ := bytes.Cut(b, newline)
		line = trimReturn(line)
		if !first {
			line = line[indent(line):]
		}
		into, b = append(into, line...), rest
	}
	return into
}

var newline = []byte("\n")
