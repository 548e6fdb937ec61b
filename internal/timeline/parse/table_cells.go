package parse

import "bytes"

func none(b []byte) bool { return string(b) == "<none>" }

func number(b []byte) bool {
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(b) > 0 && len(b) < 10
}

// ofAll reads the READY cell: 1/2.
func ofAll(b []byte) bool {
	ready, all, ok := bytes.Cut(b, []byte{'/'})
	return ok && number(ready) && number(all)
}

// titled reports whether b has the form of a pod's status or an event's reason: Running,
// Init:1/2, CrashLoopBackOff.
func titled(b []byte) bool {
	for _, c := range b {
		if c != ':' && c != '/' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return len(b) > 3 && len(b) < 64 && b[0] >= 'A' && b[0] <= 'Z'
}

// restarts reads 3, or 3 (5h ago).
func restarts(b []byte) bool {
	n, ago, more := bytes.Cut(b, []byte(" ("))
	since, ok := bytes.CutSuffix(ago, []byte(" ago)"))
	return number(n) && (!more || ok && age(since))
}

// lastSeen reads 15s, or 15s (x4 over 6m).
func lastSeen(b []byte) bool {
	last, more, ok := bytes.Cut(b, []byte(" (x"))
	return age(last) && (!ok || times(b) > 0 && more[len(more)-1] == ')')
}

// age reads 15s, 20h, 3d4h.
func age(b []byte) bool {
	if string(b) == "<unknown>" || string(b) == "<invalid>" {
		return true
	}
	digits := 0
	for _, c := range b {
		switch c {
		case 's', 'm', 'h', 'd', 'y':
			if digits == 0 {
				return false
			}
			digits = 0
		default:
			if c < '0' || c > '9' {
				return false
			}
			digits++
		}
	}
	return len(b) > 1 && len(b) < 16 && digits == 0
}
