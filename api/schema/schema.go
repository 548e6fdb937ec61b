// Package schema has the JSON Schemas of the documents that commands print with -o json. They are made from the types and
// their comments (make gen); kinds of one form share a schema.
package schema

import (
	"embed"
	"encoding/json"
	"slices"
	"strings"
)

//go:embed *.json
var files embed.FS

// Kinds are those of all documents, in order.
func Kinds() []string {
	var out []string
	each(func(kinds []string, _ []byte) { out = append(out, kinds...) })
	slices.Sort(out)
	return out
}

// Of is the schema of a kind; its case does not matter.
func Of(kind string) (schema []byte, ok bool) {
	each(func(kinds []string, text []byte) {
		if slices.ContainsFunc(kinds, func(k string) bool { return strings.EqualFold(k, kind) }) {
			schema, ok = text, true
		}
	})
	return schema, ok
}

// each passes the kinds that each file describes. The files are part of the program.
func each(f func(kinds []string, text []byte)) {
	all, _ := files.ReadDir(".")
	for _, file := range all {
		text, _ := files.ReadFile(file.Name())
		var s struct {
			Properties struct{ Kind struct{ Enum []string } }
		}
		if json.Unmarshal(text, &s) == nil {
			f(s.Properties.Kind.Enum, text)
		}
	}
}
