package render

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"plumbline.dev/plumbline/internal/scrub"
)

const ellipsis = "…"

// clean makes untrusted text safe to show on one line: credentials are removed (again: this is
// the last step before output), and characters that are not printable, change the writing
// direction or have no width are shown as escapes.
func clean(s string) string {
	s = scrub.String(s)
	if !strings.ContainsFunc(s, func(r rune) bool { return !harmless(r) }) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case harmless(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, `\u{%x}`, r)
		}
		i += n
	}
	return b.String()
}

// harmless reports whether a rune may be shown unchanged. Combining marks are not: many of them
// can cover the lines around.
func harmless(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= ' ' && r != 0x7f
	}
	return r != utf8.RuneError && unicode.IsPrint(r) && !unicode.In(r, unicode.M, unicode.Other_Default_Ignorable_Code_Point)
}

// cells is the number of terminal columns of a text.
func cells(s string) int {
	n := 0
	for _, r := range s {
		n += wide(r)
	}
	return n
}

func wide(r rune) int {
	switch {
	case r < 0x1100:
		return 1
	case r <= 0x115f, r >= 0x2e80 && r <= 0xa4cf, r >= 0xac00 && r <= 0xd7a3, r >= 0xf900 && r <= 0xfaff,
		r >= 0xfe30 && r <= 0xfe6f, r >= 0xff00 && r <= 0xff60, r >= 0xffe0 && r <= 0xffe6, r >= 0x1f300 && r <= 0x1faff, r >= 0x20000 && r <= 0x3fffd:
		return 2
	}
	return 1
}

// cutRight shortens a text at its end to width columns.
func cutRight(s string, width int) string {
	if cells(s) <= width {
		return s
	}
	n := 0
	for i, r := range s {
		if n += wide(r); n > width-1 {
			return strings.TrimRight(s[:i], " ") + ellipsis
		}
	}
	return s
}

// cutLeft shortens a text at its beginning, for paths.
func cutLeft(s string, width int) string {
	if cells(s) <= width {
		return s
	}
	n, runes := 0, []rune(s)
	for i := len(runes) - 1; i >= 0; i-- {
		if n += wide(runes[i]); n > width-1 {
			return ellipsis + string(runes[i+1:])
		}
	}
	return s
}

// fitting gives how many bytes of a text fit into width columns; at least one rune.
func fitting(s string, width int) int {
	n := 0
	for i, r := range s {
		if n += wide(r); n > width && i > 0 {
			return i
		}
	}
	return len(s)
}

// cutPath shortens a path to its last directories.
func cutPath(s string, width int) string {
	cut := cutLeft(s, width)
	if cut == s {
		return s
	}
	if slash := strings.IndexByte(cut, '/'); slash >= 0 && slash < len(cut)-4 {
		return ellipsis + cut[slash:]
	}
	return cut
}

// wrap breaks a text at spaces into lines of at most width columns; a longer word
// is split.
func wrap(s string, width int) []string {
	var lines []string
	now := ""
	for w := range strings.FieldsSeq(s) {
		if now != "" && cells(now)+1+cells(w) > width {
			lines, now = append(lines, now), ""
		}
		for cells(w) > width {
			n := fitting(w, width)
			lines, w = append(lines, w[:n]), w[n:]
		}
		if now != "" {
			now += " "
		}
		now += w
	}
	if now != "" {
		lines = append(lines, now)
	}
	return lines
}
