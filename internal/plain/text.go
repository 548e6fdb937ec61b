// Package plain makes plain text of what is shown: names and messages of strangers without characters that
// a terminal would obey, numbers and times in words.
package plain

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

// Quoted is one word of a shell, on one line.
func Quoted(s string) string {
	s = Line(s)
	harmless := func(r rune) bool {
		return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune("-_./:@%+=,", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !harmless(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// InMiddle shortens a name so that both of its ends are left; 0 means not at all.
func InMiddle(s string, width int) string {
	r := []rune(s)
	if width <= 0 || len(r) <= width {
		return s
	}
	head := (width - 1) / 2
	return string(r[:head]) + "…" + string(r[len(r)-(width-1-head):])
}
