package records

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"plumbline.dev/plumbline/internal/scrub"
)

// maxSample bounds the sample of a line.
const maxSample = 120

// sampleOf gives the beginning of a line, printable and without what looks like a credential.
func sampleOf(line []byte) string {
	text := strings.ToValidUTF8(string(line[:min(len(line), 4<<10)]), "?")
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.TrimSpace(text))
	text = scrub.String(text)
	for len(text) > maxSample {
		_, n := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-n]
	}
	return text
}

// guess says what a file may be of which a line is of no known form.
func guess(line []byte) string {
	b := bytes.TrimSpace(line)
	var s stamp
	switch {
	case len(b) == 0:
		return ""
	case b[0] == '{' && Members(b, func(_, _ []byte) bool { return true }):
		return "JSON with fields that are not known"
	case b[0] == '<' && bytes.IndexByte(b, '>') > 0:
		return "XML or HTML"
	case isoStamp(b, &s) > 0, syslogStamp(b, &s) > 0:
		return "a log of another program"
	case bytes.Count(b, []byte{','}) > 2 && bytes.Count(b, []byte{' '}) < bytes.Count(b, []byte{','}):
		return "CSV without a column that is known"
	case !utf8.Valid(b):
		return "binary, or of another encoding"
	default:
		return "text without timestamps"
	}
}
