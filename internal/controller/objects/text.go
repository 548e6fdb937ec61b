package objects

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounded makes a text of a stranger fit into an object: printable, and cut between characters.
func Bounded(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == utf8.RuneError {
			return ' '
		}
		return r
	}, s)
	if len(s) <= most {
		return s
	}
	const more = "…"
	most -= len(more)
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most] + more
}
