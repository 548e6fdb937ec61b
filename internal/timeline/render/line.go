package render

import "strings"

// A line is a row of terminal columns that can be written in any order.
type line struct{ cells []string }

func newLine(width int) *line { return &line{make([]string, width)} }

// put writes a text at a column, cut to width. A character of two columns fills the second with
// a marker.
func (l *line) put(at int, text string, width int) {
	if width <= 0 {
		return
	}
	for _, r := range cutRight(text, width) {
		if at < 0 || at+wide(r) > len(l.cells) {
			return
		}
		l.cells[at] = string(r)
		if wide(r) == 2 {
			l.cells[at+1] = "\x00"
		}
		at += wide(r)
	}
}

func (l *line) String() string {
	var b strings.Builder
	for _, c := range l.cells {
		switch c {
		case "":
			b.WriteByte(' ')
		case "\x00":
		default:
			b.WriteString(c)
		}
	}
	return strings.TrimRight(b.String(), " ")
}
