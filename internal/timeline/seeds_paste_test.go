package timeline_test

import (
	"math/rand/v2"
	"regexp"
	"strings"
)

// A paste is a text into which somebody pasted lines of logs, and broke those that were
// too long for him.
type paste struct {
	original string
	text     string    // with every logged line whole
	breaks   []breakAt // where he broke them, in order
	lines    []uint32  // by line of the paste: the line of text that has it, from one
}

type breakAt struct {
	at   int // in text
	with string
}

const months = `(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)`

var logged = regexp.MustCompile(`^\t?` + months + ` \d\d \d\d:\d\d:\d\d [^ ]+ `)

// pasted undoes the breaks as a person would: a line without a header, right below a
// logged one, goes on with it. Blanks that the author lost at a break stay lost.
func pasted(text string) *paste {
	p := &paste{original: text}
	var b strings.Builder
	open, line := false, uint32(0)
	for i, s := range strings.Split(text, "\n") {
		rest := strings.TrimLeft(s, "\t ")
		goesOn := open && rest != "" && !logged.MatchString(s) && !strings.HasPrefix(rest, "...") && !strings.HasPrefix(rest, "```")
		switch {
		case goesOn:
			p.breaks = append(p.breaks, breakAt{b.Len(), "\n" + s[:len(s)-len(rest)]})
			b.WriteString(rest)
		default:
			if i > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(s)
			line++
			open = logged.MatchString(s)
		}
		p.lines = append(p.lines, line)
	}
	p.text = b.String()
	return p
}

// unindented takes the tab off with which markdown marks what was pasted.
func unindented(text string) string { return strings.ReplaceAll("\n"+text, "\n\t", "\n")[1:] }

// wholeHead is what the loggers put before a message, with what syslog put before it.
var wholeHead = regexp.MustCompile(logged.String() + `\S+ (?:time="[^"]*" level=\w+ |[A-Z:]+\d{4} [\d:.]+ +\d+ [\w.]+:\d+\] ?|\d{4}-\d\d-\d\d [\d:.]+ (?:\[\w+\]\[\d+\] [\w./-]+ \d+: )?)?`)

// A line that begins as logged lines do is one of its own for any reader: where a break
// leaves that at the beginning, it is not certain that it goes on with another.
var headAhead = regexp.MustCompile(`^(?:` + months + ` \d\d |\d{4}-\d\d-\d\d[T ]\d\d:\d\d|time="|level=|[IWEF]\d{4} )`)

// rewrapped breaks the logged lines at a width, as the author did: what goes on is set
// one tab deeper. It gives the text, and for every line of the unwrapped one its new
// number. What it leaves alone, for it cannot be undone for certain: blanks stay at the
// end of a line, for at the beginning they are lost among the tabs; no break within the
// header, before what looks like one, or before what looks like something left out.
func rewrapped(text string, width int, rng *rand.Rand) (string, []uint32) {
	var b strings.Builder
	var numbers []uint32
	line := uint32(1)
	for i, s := range strings.Split(text, "\n") {
		if i > 0 {
			b.WriteByte('\n')
			line++
		}
		numbers = append(numbers, line)
		tabs := "\n\t"
		if strings.HasPrefix(s, "\t") {
			tabs += "\t"
		}
		for breakable := logged.MatchString(s); breakable; {
			at := max(width-rng.IntN(8), len(wholeHead.FindString(s)))
			for at < len(s) && (s[at] == ' ' || s[at]&0xc0 == 0x80 || headAhead.MatchString(s[at:]) || strings.HasPrefix(s[at:], "...")) {
				at++
			}
			if at >= len(s) {
				break
			}
			b.WriteString(s[:at] + tabs)
			line++
			s = s[at:]
		}
		b.WriteString(s)
	}
	return b.String(), numbers
}
