package term

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	xterm "golang.org/x/term"

	"plumbline.dev/plumbline/internal/plain"
)

// Width is that of the terminal; 0 if stdout is none, and lines are not cut.
func (s *Session) Width() int {
	if s.Columns > 0 {
		return s.Columns
	}
	fd, ok := terminal(s.Stdout)
	if !ok {
		return 0
	}
	n, _, err := xterm.GetSize(fd)
	if err != nil || n < 40 {
		return 80
	}
	return n
}

// terminal gives the file descriptor of w, if it is a terminal.
func terminal(w io.Writer) (fd int, ok bool) {
	f, ok := w.(*os.File)
	if !ok {
		return 0, false
	}
	return int(f.Fd()), xterm.IsTerminal(int(f.Fd()))
}

// Interactive tells whether a person reads stdout and can type.
func (s *Session) Interactive() bool {
	_, out := terminal(s.Stdout)
	in, ok := s.Stdin.(*os.File)
	return out && ok && xterm.IsTerminal(int(in.Fd()))
}

// cut shortens a line to a terminal's width; 0 means not at all.
func cut(s string, width int) string {
	if width <= 0 || utf8.RuneCountInString(s) <= width {
		return s
	}
	r := []rune(s)
	return string(r[:width-1]) + "…"
}

// PrintTable prints rows in columns, each line cut to width; the first row is the heads. Severities below the
// head SEV are in colour, where a person sees them. Cells
// may have any text: see Line. No column but the last takes more than half of the width: what is
// too long loses its middle, as names mostly differ at their end.
func (s *Session) PrintTable(width int, rows [][]string) {
	var widths []int
	for _, r := range rows {
		for i, c := range r {
			r[i] = plain.Line(c)
			if i < len(r)-1 && width > 0 {
				r[i] = plain.InMiddle(r[i], width/2)
			}
			if i == len(widths) {
				widths = append(widths, 0)
			}
			if i < len(r)-1 {
				widths[i] = max(widths[i], utf8.RuneCountInString(r[i]))
			}
		}
	}
	colour := len(rows) > 0 && rows[0][0] == "SEV" && s.coloured()
	for _, r := range rows {
		var b strings.Builder
		for i, c := range r {
			b.WriteString(c)
			if i < len(r)-1 {
				b.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c)+2))
			}
		}
		line := cut(strings.TrimRight(b.String(), " "), width)
		if colour {
			line = painted(line, r[0])
		}
		fmt.Fprintln(s.Stdout, line)
	}
}

// PrintLines prints lines of any text. What is longer than width goes on in the next line, two columns to the right: what was not
// checked, and why, is never cut. 0 means any width.
func (s *Session) PrintLines(width int, lines ...string) {
	for _, l := range lines {
		rest, indent := []rune(plain.Line(l)), ""
		for room := width; width > 0 && len(rest) > room && room > 0; room = width - len(indent) {
			at := room
			if i := lastSpace(rest[:room+1]); i > 0 {
				at = i
			}
			fmt.Fprintln(s.Stdout, indent+strings.TrimRight(string(rest[:at]), " "))
			rest, indent = []rune(strings.TrimLeft(string(rest[at:]), " ")), "  "
		}
		fmt.Fprintln(s.Stdout, indent+string(rest))
	}
}

// PrintRow prints one row of a table that grows, cut to width; 0 means not at all.
func (s *Session) PrintRow(width int, row string) {
	fmt.Fprintln(s.Stdout, cut(plain.Line(row), width))
}

// lastSpace is the position of the last space; -1 if there is none.
func lastSpace(text []rune) int {
	for i := len(text) - 1; i >= 0; i-- {
		if text[i] == ' ' {
			return i
		}
	}
	return -1
}

// PrintLabelled prints any text behind a label. It breaks the text at spaces, so that no line is
// longer than width, and indents the lines below by the label; width 0 means one line.
func (s *Session) PrintLabelled(width int, label, text string) {
	indent := strings.Repeat(" ", len(label))
	empty, now := label, label // a line without a word
	for word := range strings.FieldsSeq(plain.Line(text)) {
		if width > 0 && now != empty && utf8.RuneCountInString(now)+1+utf8.RuneCountInString(word) > width {
			fmt.Fprintln(s.Stdout, now)
			empty, now = indent, indent
		}
		if now != empty {
			now += " "
		}
		// A path may be longer than any line.
		for room := width - utf8.RuneCountInString(now); width > 0 && utf8.RuneCountInString(word) > room && room > 0; room = width - len(indent) {
			runes := []rune(word)
			fmt.Fprintln(s.Stdout, now+string(runes[:room]))
			empty, now, word = indent, indent, string(runes[room:])
		}
		now += word
	}
	fmt.Fprintln(s.Stdout, now)
}
