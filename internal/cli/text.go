package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"

	"plumbline.dev/plumbline/internal/model"
)

// clean makes text of strangers harmless to a terminal: what is not printable, or
// changes the direction of writing, is shown as an escape.
func clean(s string) string {
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

// line is clean, on one line.
func line(s string) string { return strings.ReplaceAll(clean(s), "\n", `\n`) }

// short shows eight digits of a container's ID, as people know it; JSON has it whole.
func short(s string) string {
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

// width is the terminal's, or 0 for a pipe, which gets all.
func (g *global) width() int {
	if g.Columns > 0 {
		return g.Columns
	}
	f, ok := g.Stdout.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0
	}
	n, _, err := term.GetSize(int(f.Fd()))
	if err != nil || n < 40 {
		return 80
	}
	return n
}

// cut shortens a line to a terminal's width; 0 means not at all.
func cut(s string, width int) string {
	if width <= 0 || utf8.RuneCountInString(s) <= width {
		return s
	}
	r := []rune(s)
	return string(r[:width-1]) + "…"
}

// age is how old something is, in two digits and a unit.
func age(d time.Duration) string {
	switch {
	case d <= 0:
		return "-"
	case d < 2*time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	case d < 2*365*24*time.Hour:
		return fmt.Sprintf("%dd", int(d.Hours()/24))
	default:
		return fmt.Sprintf("%dy", int(d.Hours()/24/365))
	}
}

// thousands writes 63145 as 63,145.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// table prints rows under heads in columns, each line cut to width.
func table(w io.Writer, width int, rows [][]string) {
	var widths []int
	for _, r := range rows {
		for i, c := range r {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			if i < len(r)-1 {
				widths[i] = max(widths[i], utf8.RuneCountInString(c))
			}
		}
	}
	for _, r := range rows {
		var b strings.Builder
		for i, c := range r {
			b.WriteString(c)
			if i < len(r)-1 {
				b.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c)+2))
			}
		}
		fmt.Fprintln(w, cut(strings.TrimRight(b.String(), " "), width))
	}
}

// wrap breaks a text at spaces, so that no line is longer than width; 0 means not at all.
func wrap(s, indent string, width int) []string {
	var out []string
	now := indent
	for word := range strings.FieldsSeq(s) {
		if width > 0 && now != indent && utf8.RuneCountInString(now)+1+utf8.RuneCountInString(word) > width {
			out = append(out, now)
			now = indent
		}
		if now != indent {
			now += " "
		}
		// A path may be longer than any line.
		for room := width - utf8.RuneCountInString(now); width > 0 && utf8.RuneCountInString(word) > room && room > 0; room = width - len(indent) {
			runes := []rune(word)
			out = append(out, now+string(runes[:room]))
			now, word = indent, string(runes[room:])
		}
		now += word
	}
	return append(out, now)
}

// labelled wraps a text behind a label, and below it.
func labelled(label, s string, width int) []string {
	indent := strings.Repeat(" ", len(label))
	out := wrap(s, indent, width)
	if len(out) > 0 {
		out[0] = label + strings.TrimPrefix(out[0], indent)
	}
	return out
}

// toTheMinute is how text shows a moment: with date and zone.
const toTheMinute = "2006-01-02 15:04 UTC"

// moments rounds up: what is announced for a minute has happened when it begins.
func moments(t model.Time) string { return t.Add(59 * time.Second).Time().UTC().Format(toTheMinute) }
