package term

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean makes text from the cluster harmless to a terminal: characters that are not printable,
// or change the direction of writing, are shown as escapes.
func Clean(s string) string {
	ok := func(r rune) bool { return r == '\n' || (unicode.IsPrint(r) && r != utf8.RuneError) }
	if strings.IndexFunc(s, func(r rune) bool { return !ok(r) }) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case ok(r):
			b.WriteRune(r)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// Line is clean, on one line.
func Line(s string) string { return strings.ReplaceAll(Clean(s), "\n", `\n`) }

// ShortIDs cuts every container ID in a text to eight digits.
func ShortIDs(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		j := i
		for j < len(s) && isHex(s[j]) {
			j++
		}
		if j-i >= 32 {
			b.WriteString(s[i : i+8])
			i = j
			continue
		}
		if j == i {
			j++
		}
		b.WriteString(s[i:j])
		i = j
	}
	return b.String()
}

func isHex(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' }

// ShortID cuts a container ID to eight digits.
func ShortID(s string) string { return s[:min(8, len(s))] }

// Dash shows an empty text as "-".
func Dash(s string) string { return cmp.Or(s, "-") }
