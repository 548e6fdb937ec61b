package cli

import (
	"encoding"
	"reflect"
	"strings"

	"github.com/spf13/cobra"

	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cluster"
)

// schemaCommand prints the JSON Schema of machine output, made from the types themselves.
func schemaCommand(sess *term.Session) *cobra.Command {
	return &cobra.Command{
		Use: "schema", Short: "Print the JSON Schema of check -o json", Args: cobra.NoArgs, Hidden: true,
		RunE: func(*cobra.Command, []string) error { return sess.PrintDocument(Schema(), "json") },
	}
}

// Schema describes a report of check.
func Schema() map[string]any {
	s := schemaOf(reflect.TypeFor[cluster.CheckReport]())
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = "CheckReport of " + cluster.APIVersion
	return s
}

func schemaOf(t reflect.Type) map[string]any {
	if t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		return map[string]any{"type": "string"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem())
	case reflect.Slice:
		return map[string]any{"type": "array", "items": schemaOf(t.Elem())}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint64:
		return map[string]any{"type": "integer"}
	case reflect.Struct:
		props := map[string]any{}
		var required []string
		structFields(t, props, &required)
		return map[string]any{"type": "object", "properties": props, "required": required}
	default:
		return map[string]any{"type": "string"}
	}
}

func structFields(t reflect.Type, props map[string]any, required *[]string) {
	for f := range t.Fields() {
		tag := f.Tag.Get("json")
		if f.Anonymous && tag == "" {
			structFields(f.Type, props, required)
			continue
		}
		name, rest, _ := strings.Cut(tag, ",")
		if name == "-" || name == "" {
			continue
		}
		props[name] = schemaOf(f.Type)
		if !strings.Contains(rest, "omit") {
			*required = append(*required, name)
		}
	}
}
