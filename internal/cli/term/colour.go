package term

import "strings"

// Severities in colour, as a terminal shows them.
var colours = map[string]string{"error": "\x1b[31m", "warn": "\x1b[33m", "info": "\x1b[36m"}

// coloured tells whether a person sees colours: on a terminal, unless NO_COLOR says otherwise (no-color.org).
func (s *Session) coloured() bool {
	_, ok := terminal(s.Stdout)
	return ok && s.Getenv("NO_COLOR") == "" && s.Getenv("TERM") != "dumb"
}

// painted is a line of a table whose first cell is a severity, with that in colour. Its width stays the same.
func painted(line, severity string) string {
	if c := colours[severity]; c != "" && strings.HasPrefix(line, severity) {
		return c + severity + "\x1b[0m" + line[len(severity):]
	}
	return line
}
