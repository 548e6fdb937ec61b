package records

import (
	"bytes"
	"time"

	"plumbline.dev/plumbline/internal/timeline"
)

// A parser removes the headers of one line at a time. The next line overwrites its fields.
type parser struct {
	names   *names
	export  bool // lines come from an entryReader
	rec     Record
	headed  bool   // the line has a header, so it does not continue another
	indent  int    // number of blanks before it
	outer   stamp  // of syslog, journald or the container runtime
	inner   stamp  // of the logger itself
	body    []byte // the text after the headers, unchanged
	stream  byte   // of a container runtime's line: o or e, of stdout or stderr; 0 of others
	partial bool   // the next line of that stream continues it
	sealed  bool   // the format marks the end of the message: no line is joined to it
	line    uint32 // by an entryReader: the line in the file, or the entry
	scratch []byte
}

// parse removes the headers of one line. Its timestamps are read, but not yet converted to a time.
func (p *parser) parse(line []byte) {
	line = trimReturn(line)
	p.reset(line)
	line = p.uncoloured(line)
	p.indent = indent(line)
	b := line[p.indent:]
	p.body, p.rec.Text = b, b
	if p.export {
		p.headed = p.exported(b)
		return
	}
	if len(b) < 8 {
		return
	}
	p.headed = p.outerHeader(b) || p.innerHeader(b) || p.prefixed(b)
}

// reset clears the fields of the line before. It runs for every line: fields that are seldom set
// are cleared only if set.
func (p *parser) reset(line []byte) {
	r := &p.rec
	r.Style, r.PID, r.Level, r.Raw, r.Fields = Plain, 0, 0, line, nil
	if r.Node != "" || r.Program != "" {
		r.Node, r.Program = "", ""
	}
	if r.Origin != "" {
		r.Origin = ""
	}
	if !r.At.IsZero() {
		r.At = time.Time{}
	}
	r.Place = timeline.Place{}
	p.headed, p.sealed, p.stream, p.partial, p.outer.month, p.inner.month = false, false, 0, false, 0, 0
	if len(p.scratch) > 0 {
		p.scratch = p.scratch[:0]
	}
}

// trimReturn removes the carriage return of files from Windows.
func trimReturn(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\r' {
		return line[:n-1]
	}
	return line
}

// indent counts the blanks that a line begins with.
func indent(line []byte) int {
	for i, c := range line {
		if c != ' ' && c != '\t' {
			return i
		}
	}
	return len(line)
}

// outerHeader reads the header that syslog, journald or the runtime put before the logger's line,
// and then the logger's own.
func (p *parser) outerHeader(b []byte) bool {
	switch c := b[0]; {
	case c == '{':
		return p.dockerJSON(b) || p.journalJSON(b) || p.enveloped(b)
	case c == '<':
		return p.numbered(b)
	case c == '1' || c == '2':
		return p.dated(b)
	case c >= 'A' && c <= 'S':
		return p.syslog(b)
	default:
		return false
	}
}

// innerHeader reads the header that the logger itself wrote.
func (p *parser) innerHeader(b []byte) bool {
	if len(b) < 8 {
		return false
	}
	switch b[0] {
	case 'I', 'W', 'E', 'F', 'D':
		return p.klog(b)
	case 't', 'l':
		return p.logrus(b)
	case '2', '1':
		var s stamp
		n := isoStamp(b, &s)
		return n > 0 && p.bracket(&s, b[n:])
	case '{':
		if opens := bytes.TrimLeft(b[1:], " "); len(opens) > 0 && opens[0] == '"' && b[len(bytes.TrimRight(b, " "))-1] == '}' {
			p.rec.Style, p.rec.Text, p.sealed = JSON, b, true
			return true
		}
	}
	return false
}

// message reads the text after an outer header: with a header of the logger, or plain.
func (p *parser) message(b []byte) bool {
	p.body, p.rec.Text = b, b
	p.innerHeader(b)
	return true
}

// dated reads lines that begin with a full date: Calico's own format, container logs, syslog and
// journald with ISO timestamps, and any other with a timestamp.
func (p *parser) dated(b []byte) bool {
	var s stamp
	n := isoStamp(b, &s)
	if n == 0 {
		return false
	}
	rest := b[n:]
	if p.bracket(&s, rest) {
		return true
	}
	p.outer = s
	if !s.zoned || len(rest) < 2 || rest[0] != ' ' && rest[0] != '\t' {
		return true
	}
	rest = rest[1:]
	if text, ok := containerStream(rest); ok {
		p.stream, p.partial = rest[3], rest[7] == 'P'
		return p.message(text)
	}
	if p.innerHeader(rest) {
		return true
	}
	if text, ok := labelled(rest); ok {
		return p.message(text)
	}
	if host, program, pid, text, ok := sender(rest); ok {
		p.rec.Node, p.rec.Program, p.rec.PID = p.names.of(host), p.names.of(program), pid
		return p.message(text)
	}
	if i := bytes.IndexByte(rest, ' '); i > 0 { // the name of a stream, as of CloudWatch
		p.follows(rest[i+1:])
	}
	return true
}
