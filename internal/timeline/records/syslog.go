package records

import (
	"bytes"
	"strings"
)

// syslog reads Dec 12 20:21:27 slave-197 kubelet[11608]: message.
func (p *parser) syslog(b []byte) bool {
	var s stamp
	n := syslogStamp(b, &s)
	if n == 0 || len(b) < 18 || b[n] != ' ' {
		return false
	}
	p.outer = s
	rest := b[n+1:]
	host, program, pid, text, ok := sender(rest)
	if !ok {
		if i := bytes.IndexByte(rest, ' '); i > 0 {
			p.rec.Node, rest = p.names.of(rest[:i]), rest[i+1:]
		}
		return p.message(rest)
	}
	p.rec.Node, p.rec.Program, p.rec.PID = p.names.of(host), p.names.of(program), pid
	return p.message(text)
}

// syslogStamp reads Dec 12 20:21:27 at the beginning of b, and gives how long it is.
func syslogStamp(b []byte, s *stamp) int {
	if len(b) < 15 || b[3] != ' ' || b[6] != ' ' {
		return 0
	}
	day := digits2(b, 4)
	if b[4] == ' ' {
		day = int(b[5]) - '0'
	}
	var got stamp
	if !got.monthDay(monthOf(b), day) {
		return 0
	}
	n := got.clockTime(b[7:])
	if n == 0 {
		return 0
	}
	*s = got
	return 7 + n
}

// sender reads slave-197 kubelet[11608]: and gives what follows.
func sender(b []byte) (host, program []byte, pid int, text []byte, ok bool) {
	i := bytes.IndexByte(b, ' ')
	if i < 1 {
		return
	}
	host, b = b[:i], b[i+1:]
	i = bytes.IndexAny(b, " :[")
	if i < 1 || b[i] == ' ' {
		return
	}
	program = b[:i]
	if b[i] == '[' {
		v, n := number(b[i+1:])
		if n == 0 || len(b) < i+n+3 || b[i+n+1] != ']' || b[i+n+2] != ':' {
			return
		}
		pid, i = v, i+n+2
	}
	if b = b[i+1:]; len(b) > 0 {
		if b[0] != ' ' {
			return
		}
		b = b[1:]
	}
	return host, program, pid, b, true
}

// numbered reads lines as syslog sends them, which begin with a priority: of RFC 5424
// (<30>1 2026-11-15T10:32:04Z node1 kubelet 36 - - message) or older.
func (p *parser) numbered(b []byte) bool {
	_, n := number(b[1:])
	if n == 0 || n > 3 || len(b) < n+8 || b[n+1] != '>' {
		return false
	}
	b = b[n+2:]
	if b[0] != '1' || b[1] != ' ' {
		return p.syslog(b) || p.dated(b)
	}
	b = b[2:]
	n = isoStamp(b, &p.outer)
	if n == 0 || n == len(b) {
		p.outer = stamp{}
		return false
	}
	var word [4][]byte // host, program, process, kind of message
	b = b[n+1:]
	for i := range word {
		at := bytes.IndexByte(b, ' ')
		if at < 0 {
			return true
		}
		word[i], b = b[:at], b[at+1:]
	}
	p.rec.Node, p.rec.Program = p.names.of(notNil(word[0])), p.names.of(notNil(word[1]))
	p.rec.PID, _ = number(word[2])
	return p.message(afterSpace(afterData(b)))
}

// notNil turns RFC 5424's sign for nothing into nothing.
func notNil(b []byte) []byte {
	if len(b) == 1 && b[0] == '-' {
		return nil
	}
	return b
}

// afterData skips RFC 5424's structured data, in whose values ] is escaped.
func afterData(b []byte) []byte {
	if len(b) > 0 && b[0] == '-' {
		return b[1:]
	}
	for len(b) > 0 && b[0] == '[' {
		i := 1
		for i < len(b) && b[i] != ']' {
			if b[i] == '\\' {
				i++
			}
			i++
		}
		if i >= len(b) {
			return nil
		}
		b = b[i+1:]
	}
	return b
}

const months = "JanFebMarAprMayJunJulAugSepOctNovDec"

// monthOf reads the three letters of a month, 0 if they are none.
func monthOf(b []byte) int {
	if i := strings.Index(months, string(b[:3])); i >= 0 && i%3 == 0 {
		return i/3 + 1
	}
	return 0
}
