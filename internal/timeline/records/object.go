package records

import "bytes"

// Members calls visit with the top-level members of the JSON object b until it returns false.
// Keys are without quotes, values unchanged. It reports whether b is one complete object; the
// inside of values is not checked.
func Members(b []byte, visit func(key, val []byte) bool) bool {
	b = blanks(b)
	if len(b) == 0 || b[0] != '{' {
		return false
	}
	b = blanks(b[1:])
	if len(b) > 0 && b[0] == '}' {
		return len(blanks(b[1:])) == 0
	}
	for len(b) > 0 && b[0] == '"' {
		key, val, rest, ok := member(b)
		if !ok || !visit(key, bytes.TrimRight(val, whitespace)) {
			return false
		}
		b = blanks(rest)
		if len(b) == 0 || b[0] != ',' {
			return len(b) > 0 && b[0] == '}' && len(blanks(b[1:])) == 0
		}
		b = blanks(b[1:])
	}
	return false
}

// member splits "key": value, which begins with a quote, and what follows.
func member(b []byte) (key, val, rest []byte, ok bool) {
	end := closing(b[1:])
	if end < 0 {
		return nil, nil, nil, false
	}
	key, b = b[1:end+1], blanks(b[end+2:])
	if len(b) == 0 || b[0] != ':' {
		return nil, nil, nil, false
	}
	b = blanks(b[1:])
	n := valueLen(b)
	return key, b[:n], b[n:], n > 0
}

// unquoted takes the quotes off a value that is a string.
func unquoted(val []byte) []byte {
	if n := len(val); n > 1 && val[0] == '"' {
		return val[1 : n-1]
	}
	return val
}

// valueLen gives how long the JSON value is that b begins with, 0 if it does not end.
func valueLen(b []byte) int {
	depth, i := 0, 0
	for i < len(b) {
		switch b[i] {
		case '"':
			end := closing(b[i+1:])
			if end < 0 {
				return 0
			}
			i += end + 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
		case ',':
			if depth == 0 {
				return i
			}
		}
		i++
		if depth == 0 && (b[i-1] == '"' || b[i-1] == '}' || b[i-1] == ']') {
			return i
		}
	}
	return 0
}

const whitespace = " \t\r\n"

func blanks(b []byte) []byte {
	if len(b) > 0 && b[0] > ' ' {
		return b
	}
	return bytes.TrimLeft(b, whitespace)
}

// jsonStamp finds when an object says that it was written, in the words of klog, etcd, the
// API server's audit log and the event log of a node.
func jsonStamp(b []byte) (s stamp) {
	Members(b, func(key, val []byte) bool {
		switch string(key) {
		case "ts", "requestReceivedTimestamp", "stageTimestamp", "at", "time":
			val = unquoted(val)
			if isoStamp(val, &s) == 0 {
				s = epoch(val)
			}
			return !s.is()
		}
		return true
	})
	return s
}
