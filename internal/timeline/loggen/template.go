package loggen

import (
	"embed"
	"fmt"
	"path"
	"strings"
	"sync"
)

//go:embed testdata/templates/*.flow
var recorded embed.FS

// A template is the lines of one event in the files of a recording.
type template struct {
	Name     string
	Kind     string // kind of event, by which scenes select templates
	Origin   string // components and versions
	Recorded string // which recording, and which part of it
	InTests  bool   // the parsers' own tests use that recording
	parts    []part
	slots    []slot
	base     int64 // first timestamp, as local time of its clock
	span     int64 // from the first timestamp to the last
	zone     int64 // offset of its clock from UTC
}

// A part is the lines of one file.
type part struct {
	file  string
	lines []line
}

// Lines gives how many lines the template has.
func (t *template) Lines() int {
	n := 0
	for _, p := range t.parts {
		n += len(p.lines)
	}
	return n
}

// templates gives all templates that there are, by name.
var templates = sync.OnceValues(func() (map[string]*template, error) {
	const dir = "testdata/templates"
	entries, err := recorded.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read templates: %w", err)
	}
	out := map[string]*template{}
	for _, e := range entries {
		b, err := recorded.ReadFile(path.Join(dir, e.Name()))
		if err != nil {
			return nil, fmt.Errorf("read template %s: %w", e.Name(), err)
		}
		t, err := parse(strings.TrimSuffix(e.Name(), ".flow"), string(b))
		if err != nil {
			return nil, err
		}
		out[t.Name] = t
	}
	return out, nil
})

// parse reads a template: a head of "# key: value" and "# role = value", then the lines of
// each file after "== file".
func parse(name, text string) (*template, error) {
	t := &template{Name: name}
	var values []slot
	var raw [][]string
	for l := range strings.Lines(text) {
		l = strings.TrimSuffix(l, "\n")
		switch head, isHead := strings.CutPrefix(l, "# "); {
		case isHead && len(raw) == 0:
			if role, value, ok := strings.Cut(head, " = "); ok {
				values = append(values, slot{role: role, value: value})
			} else if key, value, ok := strings.Cut(head, ": "); ok {
				t.head(key, value)
			}
		case strings.HasPrefix(l, "== "):
			t.parts = append(t.parts, part{file: l[3:]})
			raw = append(raw, nil)
		case len(raw) == 0:
			return nil, fmt.Errorf("template %s: a line before the first file", name)
		default:
			raw[len(raw)-1] = append(raw[len(raw)-1], l)
		}
	}
	if t.Kind == "" || t.Origin == "" || t.Recorded == "" || len(raw) == 0 {
		return nil, fmt.Errorf("template %s: kind, origin, recording or lines are missing", name)
	}
	t.compile(values, raw)
	return t, nil
}

func (t *template) head(key, value string) {
	switch key {
	case "kind":
		t.Kind = value
	case "origin":
		t.Origin = value
	case "recorded":
		t.Recorded = value
	case "in the parsers' tests":
		t.InTests = value == "yes"
	}
}
