package term

import (
	"fmt"
	"io"
	"strings"
	"text/template"

	"plumbline.dev/plumbline/internal/kube/jsonpath"
	"plumbline.dev/plumbline/internal/plain"
)

// A documentTemplate prints parts of a document.
type documentTemplate func(w io.Writer, doc any) error

// parseTemplate reads jsonpath=TEMPLATE or go-template=TEMPLATE, as kubectl has them: a field that is missing is empty.
func parseTemplate(format string) (documentTemplate, error) {
	kind, text, _ := strings.Cut(format, "=")
	if kind == "jsonpath" {
		return jsonpath.Parse(text)
	}
	t, err := template.New("output").Parse(text)
	if err != nil {
		return nil, err
	}
	return t.Execute, nil
}

// printTemplate prints what a template makes of a document, given as JSON. Names in it come from strangers: each is one line,
// and what a terminal would obey is escaped. The page of a code is ours, and has lines.
func (s *Session) printTemplate(doc []byte, format string) error {
	t, err := parseTemplate(format)
	if err != nil {
		return err
	}
	v, err := jsonpath.Decode(doc)
	if err != nil {
		return err
	}
	if m, ok := v.(map[string]any); !ok || m["kind"] != "CodePage" {
		v = lines(v)
	}
	var b strings.Builder
	if err := t(&b, v); err != nil {
		return fmt.Errorf("-o %s: %w", format, err)
	}
	_, err = io.WriteString(s.Stdout, b.String())
	return err
}

// lines makes every text of a document harmless.
func lines(v any) any {
	switch v := v.(type) {
	case string:
		return plain.Line(v)
	case []any:
		for i := range v {
			v[i] = lines(v[i])
		}
	case map[string]any:
		out := make(map[string]any, len(v))
		for k := range v {
			out[plain.Line(k)] = lines(v[k])
		}
		return out
	}
	return v
}
