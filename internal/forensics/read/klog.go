package read

// klog reads I1115 10:31:56.650149   36 kubelet.go:1601] message, where the level may
// also be written out, as in ERROR:1213 10:27:42.891750 15567 cni.go:312] message.
func (p *parser) klog(b []byte) bool {
	level, at := b[0], 1
	if len(b) > 1 && b[1] > '9' {
		if at = spelledLevel(b); at == 0 {
			return false
		}
	}
	b = b[at:]
	if len(b) < 22 || b[4] != ' ' {
		return false
	}
	var s stamp
	if !s.monthDay(digits2(b, 0), digits2(b, 2)) {
		return false
	}
	n := 5 + s.clockTime(b[5:])
	if n == 5 {
		return false
	}
	for n < len(b) && b[n] == ' ' {
		n++
	}
	pid, d := number(b[n:])
	if n += d; d == 0 || n == len(b) || b[n] != ' ' {
		return false
	}
	b = b[n+1:]
	colon := 0
	for colon < len(b) && b[colon] != ':' && b[colon] != ' ' && b[colon] != ']' {
		colon++
	}
	if colon < 1 || colon == len(b) || b[colon] != ':' {
		return false
	}
	_, d = number(b[colon+1:])
	end := colon + 1 + d
	if d == 0 || end == len(b) || b[end] != ']' {
		return false
	}
	p.inner = s
	p.rec.Style, p.rec.Level, p.rec.Origin = Klog, level, p.names.of(b[:colon])
	if p.rec.PID == 0 {
		p.rec.PID = pid
	}
	p.body = afterSpace(b[end+1:])
	p.rec.Text = p.body
	return true
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

// number reads a number of at most nine digits at the beginning of b, and gives how many
// there are, 0 if it is none.
func number(b []byte) (value, digits int) {
	for digits < len(b) && b[digits]-'0' <= 9 {
		value = value*10 + int(b[digits]-'0')
		if digits++; digits > 9 {
			return 0, 0
		}
	}
	return value, digits
}
