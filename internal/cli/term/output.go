package term

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// OutputFlag adds -o; the first format is the default. A command that prints json prints its document in every way that
// kubectl has.
func OutputFlag(l *pflag.FlagSet, to *string, formats ...string) {
	if i := slices.Index(formats, "json"); i >= 0 {
		formats = slices.Concat(formats[:i], []string{"json", "yaml"}, formats[i+1:], templates)
	}
	*to = formats[0]
	l.VarP(&outputValue{to, formats}, "output", "o", oneOf(formats))
}

// templates are the formats that are given a template after their name.
var templates = []string{"jsonpath=", "go-template="}

// IsDocument tells whether a format prints the document of a command, in whichever way.
func IsDocument(format string) bool {
	return format == "json" || format == "yaml" || isTemplate(format)
}

func isTemplate(format string) bool {
	return slices.ContainsFunc(templates, func(p string) bool { return strings.HasPrefix(format, p) })
}

// Formats are those of a command's -o; none if that is not a flag of OutputFlag.
func Formats(f *pflag.Flag) []string {
	if v, ok := f.Value.(*outputValue); ok {
		return v.formats
	}
	return nil
}

// An outputValue refuses a format that its command does not have, and a template that cannot be read, before anything is done.
type outputValue struct {
	to      *string
	formats []string
}

func (v *outputValue) String() string { return *v.to }
func (v *outputValue) Type() string   { return "string" }

func (v *outputValue) Set(s string) error {
	if s == "table" { // as older versions of check called it
		s = "text"
	}
	switch known := slices.Contains(v.formats, s); {
	case slices.Contains(templates, s):
		return fmt.Errorf("a template belongs after %s, such as %s", s, example[s])
	case isTemplate(s) && slices.Contains(v.formats, "json"):
		if _, err := parseTemplate(s); err != nil {
			return err
		}
	case !known:
		return fmt.Errorf("want %s", oneOf(v.formats))
	}
	*v.to = s
	return nil
}

var example = map[string]string{
	"jsonpath=":    "jsonpath='{.findings[*].code}'",
	"go-template=": "go-template='{{len .findings}}'",
}

func oneOf(formats []string) string {
	last := len(formats) - 1
	return strings.Join(formats[:last], ", ") + " or " + formats[last]
}
