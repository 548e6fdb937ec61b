// Package scrub takes credentials out of text. It knows them by what they are, not by
// what stands before them: a key may be broken in two by whoever pasted the log. Keys
// are a second net, for secrets that look like nothing.
package scrub

import "slices"

// A span is where a credential stands.
type span struct {
	start, end int
	kind       string
}

const (
	removed = "[credential removed: "
	closing = "]"
)

// Find gives the kinds of credentials that stand in the text, each once, in the order
// of their first appearance. It gives nil, and allocates nothing, where there are none.
func Find(b []byte) []string {
	var kinds []string
	many := wrapped(b)
	for at := 0; ; {
		s, ok := next(b, at, many)
		if !ok {
			return kinds
		}
		if !slices.Contains(kinds, s.kind) {
			kinds = append(kinds, s.kind)
		}
		at = s.end
	}
}

// Bytes appends b to dst, every credential replaced by a word on what it was.
func Bytes(dst, b []byte) []byte {
	many := wrapped(b)
	at := 0
	for {
		s, ok := next(b, at, many)
		if !ok {
			return append(dst, b[at:]...)
		}
		dst = append(dst, b[at:s.start]...)
		dst = append(dst, removed...)
		dst = append(dst, s.kind...)
		dst = append(dst, closing...)
		at = s.end
	}
}

// String gives the text without its credentials; text that has none is given as it is.
func String(s string) string {
	b := []byte(s)
	if _, ok := next(b, 0, wrapped(b)); !ok {
		return s
	}
	return string(Bytes(nil, b))
}
