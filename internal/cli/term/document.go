package term

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"

	"sigs.k8s.io/yaml"

	"plumbline.dev/plumbline/internal/plain"
)

// NotNil makes a missing list an empty one, which JSON shows as [].
func NotNil[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// PrintDocument prints a document; format is one of those that IsDocument knows.
func (s *Session) PrintDocument(doc any, format string) error {
	b, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return err
	}
	if isTemplate(format) {
		return s.printTemplate(b, format)
	}
	text := printable(string(b))
	if format == "yaml" && text == string(b) { // else JSON, which is YAML too and has escapes
		y, err := yaml.JSONToYAML(b)
		if err != nil {
			return err
		}
		_, err = s.Stdout.Write(y)
		return err
	}
	_, err = fmt.Fprintln(s.Stdout, text)
	return err
}

// PrintNames prints a name per line, each of which another command takes: what -o name is for.
func PrintNames[T any](s *Session, all []T, name func(*T) string) {
	for i := range all {
		fmt.Fprintln(s.Stdout, plain.Line(name(&all[i])))
	}
}

// printable escapes, in JSON, characters that a terminal would obey. The document stays the same.
func printable(s string) string {
	harmless := func(r rune) bool { return r == '\n' || unicode.IsPrint(r) }
	if strings.IndexFunc(s, func(r rune) bool { return !harmless(r) }) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if harmless(r) {
			b.WriteRune(r)
			continue
		}
		for _, u := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, u)
		}
	}
	return b.String()
}
