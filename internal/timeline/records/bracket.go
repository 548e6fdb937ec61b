package records

import "bytes"

// bracket reads what follows the stamp of Calico's own format:
// [INFO][365] cni-plugin/k8s.go 74: message.
func (p *parser) bracket(s *stamp, b []byte) bool {
	level, pid, b := levelAndPID(b)
	end := bytes.IndexByte(b, ' ')
	if level == 0 || end < 1 {
		return false
	}
	origin := b[:end]
	b = b[end+1:]
	_, n := number(b)
	if n == 0 || n == len(b) || b[n] != ':' {
		return false
	}
	p.inner = *s
	p.rec.Style, p.rec.Level, p.rec.PID, p.rec.Origin = Bracket, level, pid, p.names.of(origin)
	p.body = afterSpace(b[n+1:])
	p.rec.Text = p.body
	return true
}

// levelAndPID reads " [INFO][365] " and gives what follows; level 0 if it is not that.
func levelAndPID(b []byte) (level byte, pid int, rest []byte) {
	if len(b) < 12 || b[0] != ' ' || b[1] != '[' {
		return 0, 0, nil
	}
	b = b[2:]
	end := bytes.IndexByte(b[:min(len(b), 10)], ']')
	if end < 0 {
		return 0, 0, nil
	}
	level, b = levelOf(b[:end]), b[end+1:]
	if len(b) < 3 || b[0] != '[' {
		return 0, 0, nil
	}
	pid, n := number(b[1:])
	if n == 0 || len(b) < n+3 || b[n+1] != ']' || b[n+2] != ' ' {
		return 0, 0, nil
	}
	return level, pid, b[n+3:]
}

// levelOf gives the letter of a level that is spelled out, 0 if it is none.
func levelOf(b []byte) byte {
	if len(b) < 4 {
		return 0
	}
	switch b[0] | 0x20 {
	case 't', 'd': // trace, debug
		return 'D'
	case 'i', 'n': // info, notice
		return 'I'
	case 'w':
		return 'W'
	case 'e':
		return 'E'
	case 'f', 'p': // fatal, panic
		return 'F'
	default:
		return 0
	}
}
