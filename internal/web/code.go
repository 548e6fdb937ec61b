package web

import (
	"html/template"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"

	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
)

// markdown writes the pages of codes, which are ours, as HTML. Markup in them is left out.
var markdown = goldmark.New(goldmark.WithExtensions(extension.Table))

// code shows the page of a code; without one, all codes.
func (l *look) code() (string, any, error) {
	if l.q.Get("name") == "" {
		return "codes", detect.All, nil
	}
	c, _ := finding.ParseCode(l.q.Get("name"))
	text, ok := detect.Page(c)
	if !ok {
		return "", nil, missing("No code " + l.q.Get("name") + ".")
	}
	var b strings.Builder
	if err := markdown.Convert([]byte(text), &b); err != nil {
		return "", nil, err
	}
	n := 0
	for _, fs := range [][]finding.Finding{l.Findings, l.Unconfirmed} {
		for i := range fs {
			if fs[i].Code == c && l.sees(&fs[i]) {
				n++
			}
		}
	}
	return "code", map[string]any{"Code": c, "Text": template.HTML(b.String()), "Count": n}, nil //nolint:gosec // our own page
}
