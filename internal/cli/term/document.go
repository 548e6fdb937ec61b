package term

import (
	"encoding/json"
	"fmt"
	"regexp"
	"unicode/utf8"

	"sigs.k8s.io/yaml"
)

// NotNil makes a missing list an empty one, which JSON shows as [].
func NotNil[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// PrintDocument prints a document; format is json or yaml.
func (s *Session) PrintDocument(doc any, format string) error {
	b, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return err
	}
	if format == "yaml" {
		if b, err = yaml.JSONToYAML(b); err != nil {
			return err
		}
		_, err = s.Stdout.Write(b)
		return err
	}
	_, err = fmt.Fprintln(s.Stdout, printable(string(b)))
	return err
}

// printable escapes, in JSON, characters that a terminal would obey. The document stays the same.
func printable(s string) string {
	return nonPrintable.ReplaceAllStringFunc(s, func(c string) string {
		r, _ := utf8.DecodeRuneInString(c)
		return fmt.Sprintf(`\u%04x`, r)
	})
}

var nonPrintable = regexp.MustCompile(`[\x7f-\x{9f}\x{ad}\x{200b}-\x{200f}\x{2028}-\x{202e}\x{2060}-\x{206f}\x{feff}]`)
