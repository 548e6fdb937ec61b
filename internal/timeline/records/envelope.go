package records

import "bytes"

// An envelope is what the shippers and stores of logs put around a line: JSON with the line in one
// field and its time, node and program in others. Values are as they stand in the JSON, without
// quotes.
type envelope struct {
	message, time, node, program, comm, pid []byte
	has                                     bool // message is there, maybe empty
	own                                     bool // msg beside level: the message of a logger, not of an envelope
}

// maxNested is how deep the line may be in an envelope.
const maxNested = 3

// read reads an object. Where two fields have the same meaning the first one counts.
func (e *envelope) read(b []byte, depth int) {
	Members(b, func(key, val []byte) bool {
		switch string(key) {
		case "log", "message", "MESSAGE", "line", "textPayload", "msg":
			if !e.has {
				e.message, e.has = val, true
			}
		case "level":
			e.own = true
		case "time", "@timestamp", "timestamp", "date", "__REALTIME_TIMESTAMP":
			first(&e.time, val)
		case "_HOSTNAME", "hostname", "host", "node", "nodename":
			e.named(&e.node, val)
		case "SYSLOG_IDENTIFIER", "app-name", "programname", "ident":
			first(&e.program, val)
		case "_COMM":
			first(&e.comm, val)
		case "_PID", "SYSLOG_PID", "procid":
			first(&e.pid, val)
		case "_source", "jsonPayload", "kubernetes", "labels", "fields", "resource":
			if depth < maxNested && len(val) > 0 && val[0] == '{' {
				e.read(val, depth+1)
			}
		}
		return true
	})
}

// named takes a name, which may be an object with it.
func (e *envelope) named(to *[]byte, val []byte) {
	if len(val) > 0 && val[0] == '{' {
		Members(val, func(key, val []byte) bool {
			if string(key) == "name" || string(key) == "hostname" {
				first(to, val)
			}
			return true
		})
		return
	}
	first(to, val)
}

// first sets a string or number that is not set yet.
func first(to *[]byte, val []byte) {
	if val = unquoted(val); len(*to) == 0 && len(val) > 0 && val[0] != '{' && val[0] != '[' {
		*to = val
	}
}

// stamp gives the time of an envelope; it must have its zone, or be counted since 1970.
func (e *envelope) stamp() (s stamp) {
	if isoStamp(e.time, &s) > 0 {
		return s
	}
	return epoch(e.time)
}

// never are the first fields of objects that are no envelopes: those of the API server's audit log,
// of klog, of the event log of a node and of Kubernetes' objects. They are long, or many.
func never(b []byte) bool {
	for _, key := range [...]string{`"kind":`, `"ts":`, `"at":`, `"apiVersion":`, `"metadata":`} {
		if bytes.HasPrefix(b, []byte(key)) {
			return true
		}
	}
	return false
}

// enveloped reads a line in an envelope: its line is read as if it stood there alone.
func (p *parser) enveloped(b []byte) bool {
	if len(b) > maxLine || never(bytes.TrimLeft(b[1:], " ")) {
		return false
	}
	var e envelope
	e.read(b, 0)
	if !e.has || len(e.message) == 0 {
		return false
	}
	s := e.stamp()
	if !s.is() {
		return false
	}
	if e.own {
		return p.logrusJSON(b)
	}
	if e.message[0] != '"' && e.message[0] != '[' {
		return false
	}
	p.outer, p.sealed = s, true
	p.rec.Node, p.rec.Program = p.names.of(e.node), p.names.of(e.program)
	if p.rec.Program == "" {
		p.rec.Program = p.names.of(e.comm)
	}
	p.rec.PID, _ = number(e.pid)
	if e.message[0] == '[' {
		return p.message(p.byteList(e.message))
	}
	text := bytes.TrimRight(p.unquote(unquoted(e.message)), "\r\n")
	return p.shipped(text) || p.message(text)
}

// shipped reads a message that begins with a header of syslog, as shippers take it from a file of syslog. Its time counts if it has its
// zone, else that of the envelope.
func (p *parser) shipped(b []byte) bool {
	var s stamp
	n := syslogStamp(b, &s)
	if n == 0 {
		n = isoStamp(b, &s)
	}
	if n == 0 || len(b) < n+2 || b[n] != ' ' {
		return false
	}
	host, program, pid, text, ok := sender(b[n+1:])
	if !ok || bytes.ContainsAny(host, "[]:=\"") {
		return false
	}
	if s.zoned {
		p.outer = s
	}
	p.rec.Node, p.rec.Program, p.rec.PID = p.names.of(host), p.names.of(program), pid
	return p.message(text)
}

// logrusJSON reads a line of logrus as JSON: containerd writes so if its configuration asks for it.
func (p *parser) logrusJSON(b []byte) bool {
	start := len(p.scratch)
	var text []byte
	Members(b, func(key, val []byte) bool {
		switch string(key) {
		case "time":
			if isoStamp(unquoted(val), &p.inner) == 0 {
				p.inner = stamp{}
			}
		case "level":
			p.rec.Level = levelOf(unquoted(val))
		case "msg":
			text = unquoted(val)
		default:
			p.scratch = append(append(append(append(p.scratch, key...), '='), val...), ' ')
		}
		return true
	})
	if !p.inner.is() || text == nil {
		p.rec.Level, p.inner, p.scratch = 0, stamp{}, p.scratch[:start]
		return false
	}
	p.rec.Fields = bytes.TrimRight(p.scratch[start:len(p.scratch):len(p.scratch)], " ")
	p.rec.Style, p.sealed = Logrus, true
	p.rec.Text = p.unquote(text)
	return true
}
