// Package scrub removes credentials from text. It recognises them by their value, not by the name
// before them: the name may be split where a pasted log was wrapped. Names such as token= are a
// second way, for secrets whose value has no recognisable form.
package scrub

import "slices"

// A span is the position of a credential: [start, end).
type span struct {
	start, end int
	kind       string
}

const (
	removed = "[credential removed: "
	closing = "]"
)

// Find gives the kinds of credentials in the text, each once, in order of their first appearance.
// It gives nil and allocates nothing if there are none.
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

// appendMasked appends b to dst with every credential replaced by its kind.
func appendMasked(dst, b []byte) []byte {
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

// String gives the text with every credential replaced by its kind; text without any is returned
// unchanged.
func String(s string) string {
	b := []byte(s)
	if _, ok := next(b, 0, wrapped(b)); !ok {
		return s
	}
	return string(appendMasked(nil, b))
}
