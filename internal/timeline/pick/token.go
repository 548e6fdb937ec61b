package pick

import (
	"bytes"
	"iter"
)

// places are where a needle stands in a line.
func places(line, needle []byte) iter.Seq[int] {
	return func(yield func(int) bool) {
		for from := 0; ; {
			i := bytes.Index(line[from:], needle)
			if i < 0 || !yield(from+i) {
				return
			}
			from += i + 1
		}
	}
}

func alnum(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z'
}

// beginsLabel tells that nothing of a label stands before i. An n or t there may be the
// end of an escaped line.
func beginsLabel(line []byte, i int) bool {
	if i == 0 {
		return true
	}
	c := line[i-1]
	escaped := i > 1 && line[i-2] == '\\' && (c == 'n' || c == 't' || c == 'r')
	return escaped || !alnum(c) && c != '-'
}

// beginsWord is the same for names that may have dots.
func beginsWord(line []byte, i int) bool {
	return beginsLabel(line, i) && (i == 0 || line[i-1] != '.')
}

func endsLabel(line []byte, i int) bool {
	return i >= len(line) || !alnum(line[i]) && line[i] != '-'
}

// endsWord: a dot may end a sentence.
func endsWord(line []byte, i int) bool {
	return endsLabel(line, i) && (i+1 >= len(line) || line[i] != '.' || !alnum(line[i+1]))
}

// isJoint tells what stands between a namespace and a name.
func isJoint(c byte) bool { return c == '/' || c == '.' || c == '_' }

const maxJoint = 8 // quotes, escaped over and over, and what stands between key and value

// keyBefore is the key whose value begins at i, as in Pod="x", {Name:x, \"pod\":\"x\".
func keyBefore(line []byte, i int) []byte {
	end, assigned := i, false
	for ; end > 0 && i-end < maxJoint; end-- {
		c := line[end-1]
		if c == '=' || c == ':' {
			assigned = true
		} else if c != '"' && c != '\\' && c != ' ' {
			break
		}
	}
	if !assigned {
		return nil
	}
	start := end
	for start > 0 && (alnum(line[start-1]) || line[start-1] == '_' || line[start-1] == '.' || line[start-1] == '-') {
		start--
	}
	return line[start:end]
}

// podKey tells that a key's value is a pod's name.
func podKey(key []byte) bool {
	for _, end := range []string{"pod", "podname", "pod_name", "pod.name", "pod-name"} {
		if len(key) >= len(end) && bytes.EqualFold(key[len(key)-len(end):], []byte(end)) {
			return true
		}
	}
	return bytes.EqualFold(key, []byte("name"))
}

// valueAfter is the value of the key that ends at i.
func valueAfter(line []byte, i int) (value []byte, ok bool) {
	start, assigned := i, false
	for ; start < len(line) && start-i < maxJoint; start++ {
		c := line[start]
		if c == '=' || c == ':' {
			assigned = true
		} else if c != '"' && c != '\\' && (c != ' ' || !assigned || line[start-1] != ':') {
			break
		}
	}
	end := start
	for !endsLabel(line, end) {
		end++
	}
	return line[start:end], assigned
}

// hexDigit is asked more often than anything else.
var hexDigit = func() (is [256]bool) {
	for _, c := range "0123456789abcdef" {
		is[c] = true
	}
	return is
}()

func isHex(c byte) bool { return hexDigit[c] }

// hexRuns are the runs of at least 12 hexadecimal digits: it looks at one byte in twelve,
// and closer where that is one.
func hexRuns(line []byte) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		for i := shortestID - 1; i < len(line); i += shortestID {
			if !isHex(line[i]) {
				continue
			}
			start, end := i, i+1
			for start > 0 && isHex(line[start-1]) {
				start--
			}
			for end < len(line) && isHex(line[end]) {
				end++
			}
			if end-start >= shortestID && !yield(start, end) {
				return
			}
			i = end
		}
	}
}
