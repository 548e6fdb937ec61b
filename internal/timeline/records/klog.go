package records

import "bytes"

// klog reads I1115 10:31:56.650149   36 kubelet.go:1601] message, where the level may
// also be written out, as in ERROR:1213 10:27:42.891750 15567 cni.go:312] message.
func (p *parser) klog(b []byte) bool {
	var s stamp
	level, n := b[0], klogStamp(b, &s)
	if n == 0 {
		return false
	}
	for n < len(b) && b[n] == ' ' {
		n++
	}
	pid, d := number(b[n:])
	if n += d; d == 0 || n == len(b) || b[n] != ' ' {
		return false
	}
	file, text, ok := sourceLine(b[n+1:])
	if !ok {
		return false
	}
	p.inner = s
	p.rec.Style, p.rec.Level, p.rec.Origin = Klog, level, p.names.of(file)
	if p.rec.PID == 0 {
		p.rec.PID = pid
	}
	p.body = afterSpace(text)
	p.rec.Text = p.body
	return true
}

// klogStamp reads the level and the timestamp at the beginning of b, and gives how long they are.
func klogStamp(b []byte, s *stamp) int {
	at := 1
	if len(b) > 1 && b[1] > '9' {
		if at = spelledLevel(b); at == 0 {
			return 0
		}
	}
	if len(b) < at+14 || b[at+4] != ' ' {
		return 0
	}
	var got stamp
	if !got.monthDay(digits2(b, at), digits2(b, at+2)) {
		return 0
	}
	n := got.clockTime(b[at+5:])
	if n == 0 {
		return 0
	}
	*s = got
	return at + 5 + n
}

// sourceLine reads kubelet.go:1601] and gives the file and what follows.
func sourceLine(b []byte) (file, text []byte, ok bool) {
	end := bytes.IndexByte(b, ']')
	if end < 0 {
		return nil, nil, false
	}
	colon := bytes.IndexByte(b[:end], ':')
	if colon < 1 || bytes.IndexByte(b[:colon], ' ') >= 0 {
		return nil, nil, false
	}
	if _, d := number(b[colon+1:]); d == 0 || colon+1+d != end {
		return nil, nil, false
	}
	return b[:colon], b[end+1:], true
}

// afterSpace takes one blank off.
func afterSpace(b []byte) []byte {
	if len(b) > 0 && b[0] == ' ' {
		return b[1:]
	}
	return b
}

// spelledLevel gives how long INFO:, WARNING:, ERROR: or FATAL: at the beginning is.
func spelledLevel(b []byte) int {
	for _, w := range [...]string{"INFO:", "WARNING:", "ERROR:", "FATAL:"} {
		if len(b) > len(w) && string(b[:len(w)]) == w {
			return len(w)
		}
	}
	return 0
}
