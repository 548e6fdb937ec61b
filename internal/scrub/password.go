package scrub

import "bytes"

// notPassword are the characters that end a password: one that contains them is quoted, and ends
// at its quote.
var notPassword = set(" \t\r\n\"'\\,;&)}]<>`")

var inPassword = func() *[256]bool {
	var t [256]bool
	for c := range t {
		t[c] = !notPassword[c]
	}
	return &t
}()

// longestWord is the longest word of a sentence.
const longestWord = 32

// keyedPassword finds the value after a key that names a password. After = or in quotes it is a
// value; after a colon alone it may be the rest of a sentence.
func keyedPassword(b []byte, end int) (span, bool) {
	at, ok := sign(b, end)
	if !ok {
		return span{}, false
	}
	start := over(b, at, around)
	stop, n := run(b, start, inPassword)
	if n < 4 || placeholder(b[start:stop]) {
		return span{}, false
	}
	sentence := n <= longestWord && b[at-1] == ':' && b[end] == ':' && stop < len(b) && b[stop] == ' '
	if sentence && !hasDigit(b[start:stop]) {
		return span{}, false
	}
	return span{start, stop, "password"}, true
}

func hasDigit(b []byte) bool { return bytes.ContainsAny(b, "0123456789") }

// placeholder reports whether a value only stands for a secret, or for none. Every kubelet logs at
// its start that the password of its storage driver is root.
func placeholder(v []byte) bool {
	if string(v) == "credential" || len(v) > 2 && len(bytes.Trim(v, "xX*.-_=")) == 0 {
		return true
	}
	for _, w := range []string{"true", "false", "null", "none", "empty", "required", "redacted", "masked", "removed", "hidden", "unknown", "invalid", "root"} {
		if len(v) == len(w) && bytes.EqualFold(v, []byte(w)) {
			return true
		}
	}
	return false
}
