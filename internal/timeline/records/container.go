package records

import "bytes"

// containerStream reads what a container runtime puts after its timestamp: stderr F.
func containerStream(b []byte) (text []byte, ok bool) {
	if len(b) < 9 || b[7] != 'F' && b[7] != 'P' || b[8] != ' ' || string(b[:7]) != "stderr " && string(b[:7]) != "stdout " {
		return nil, false
	}
	return b[9:], true
}

// dockerJSON reads {"log":"…","stream":"stderr","time":"…"}, as dockerd keeps what
// containers write.
func (p *parser) dockerJSON(b []byte) bool {
	const begin = `{"log":"`
	if len(b) <= len(begin) || string(b[:len(begin)]) != begin {
		return false
	}
	rest := b[len(begin):]
	end := closing(rest)
	if end < 0 {
		return false
	}
	if i := bytes.Index(rest[end:], []byte(`"time":"`)); i < 0 || isoStamp(rest[end+i+8:], &p.outer) == 0 {
		p.outer = stamp{}
		return false
	}
	p.sealed = true
	return p.message(bytes.TrimRight(p.unquote(rest[:end]), "\r\n"))
}

// journalJSON reads a line of journalctl -o json. Its fields are in capitals, unlike those
// of other formats.
func (p *parser) journalJSON(b []byte) bool {
	first := bytes.TrimLeft(b[1:], " ")
	if len(first) < 2 || first[0] != '"' || (first[1] != '_' && (first[1] < 'A' || first[1] > 'Z')) {
		return false
	}
	text, comm, seen := p.journalFields(b)
	if !seen || !p.outer.is() {
		p.rec = Record{Raw: p.rec.Raw, Text: p.rec.Text}
		p.outer = stamp{}
		return false
	}
	if p.rec.Program == "" {
		p.rec.Program = p.names.of(comm)
	}
	p.sealed = true
	if len(text) > 0 && text[0] == '[' {
		return p.message(p.byteList(text))
	}
	return p.message(p.unquote(text))
}

// journalFields reads the fields of a journal entry. It gives the message, whether there is
// one, and the name of the program's file.
func (p *parser) journalFields(b []byte) (text, comm []byte, seen bool) {
	Members(b, func(key, val []byte) bool {
		val = unquoted(val)
		switch string(key) {
		case "MESSAGE":
			text, seen = val, true
		case "_HOSTNAME":
			p.rec.Node = p.names.of(val)
		case "SYSLOG_IDENTIFIER":
			p.rec.Program = p.names.of(val)
		case "_COMM":
			comm = val
		case "_PID", "SYSLOG_PID":
			if p.rec.PID == 0 {
				p.rec.PID, _ = number(val)
			}
		case "__REALTIME_TIMESTAMP":
			p.outer = epoch(val)
		}
		return true
	})
	return text, comm, seen
}

// byteList reads [72,101,…], as journalctl writes a message that is not printable.
func (p *parser) byteList(b []byte) []byte {
	start := len(p.scratch)
	for b = b[1:]; len(b) > 0; {
		b = bytes.TrimLeft(b, " ,")
		v, n := number(b)
		if n == 0 || v > 255 {
			break
		}
		p.scratch = append(p.scratch, byte(v))
		b = b[n:]
	}
	return p.scratch[start:len(p.scratch):len(p.scratch)]
}
