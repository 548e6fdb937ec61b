package scrub

import "bytes"

// notPassword ends a password: those that hold such letters are quoted, and what is
// quoted ends at its quote.
var notPassword = set(" \t\r\n\"'\\,;&)}]<>`")

var inPassword = func() *[256]bool {
	var t [256]bool
	for c := range t {
		t[c] = !notPassword[c]
	}
	return &t
}()

// longestWord is how long a word of a sentence can be.
const longestWord = 32

// keyedPassword finds the value after a key that is a password's. Nothing else is said
// with = or in quotes; after a colon alone it may be a sentence that goes on.
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

// placeholder reports whether a value says only that there was a secret, or that there
// is none. Every kubelet says at its start that its storage driver's password is root.
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
