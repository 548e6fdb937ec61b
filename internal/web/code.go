package web

import (
	"html/template"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
)

// markdown writes the pages of codes, which are ours, as HTML. Markup in them is left out.
var markdown = goldmark.New(goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)))) // the policy refuses styles

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
	rows, hidden := l.seen(func(f *finding.Finding) bool { return f.Code == c })
	n := map[string]int{}
	for _, r := range rows {
		n[r.As]++
	}
	return "code", map[string]any{
		"Code": c, "Text": template.HTML(b.String()), //nolint:gosec // our own page
		"Count": n[""], "Folded": n["folded"], "Suppressed": n["suppressed"], "Hidden": hidden, "NotJudged": audit.NotJudged(l.Skipped)[c],
	}, nil
}
