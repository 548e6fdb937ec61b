package read

import "bytes"

// members visits the members of the object that b begins with, not those of objects in
// it, until visit has had enough. Strings come without their quotes but with their
// escapes. What is no object has no members.
func members(b []byte, visit func(key, val []byte) bool) {
	b = blanks(b)
	if len(b) == 0 || b[0] != '{' {
		return
	}
	b = blanks(b[1:])
	for len(b) > 0 && b[0] == '"' {
		end := closing(b[1:])
		if end < 0 {
			return
		}
		key := b[1 : end+1]
		b = blanks(b[end+2:])
		if len(b) == 0 || b[0] != ':' {
			return
		}
		b = blanks(b[1:])
		n := valueLen(b)
		if n == 0 {
			return
		}
		val := b[:n]
		if val[0] == '"' {
			val = val[1 : n-1]
		}
		if !visit(key, val) {
			return
		}
		b = blanks(b[n:])
		if len(b) == 0 || b[0] != ',' {
			return
		}
		b = blanks(b[1:])
	}
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

func blanks(b []byte) []byte { return bytes.TrimLeft(b, " \t") }

// jsonStamp finds when an object says that it was written, in the words of klog, etcd, the
// API server's audit and the flight record.
func jsonStamp(b []byte) (s stamp) {
	members(b, func(key, val []byte) bool {
		switch string(key) {
		case "ts", "requestReceivedTimestamp", "stageTimestamp", "at", "time":
			if isoStamp(val, &s) == 0 {
				s = epoch(val)
			}
			return !s.is()
		}
		return true
	})
	return s
}
