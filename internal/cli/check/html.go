package check

import (
	_ "embed"
	"html/template"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/page"
	"plumbline.dev/plumbline/internal/plain"
)

//go:embed report.html
var reportHTML string

//go:embed report.css
var ownStyle string

//go:embed report.js
var reportScript string

// One file that works from file:// and loads nothing. Whatever comes from the cluster
// goes through html/template, and none of it into script or style.
var reportTemplate = template.Must(template.New("report").Funcs(template.FuncMap{
	"short": plain.ShortIDs, "clean": plain.Line, "quoted": plain.Quoted,
	"age": func(taken, since model.Time) string {
		if since.IsZero() {
			return "-"
		}
		return plain.Age(taken.Sub(since))
	},
	"date": func(t model.Time) string { return t.String() },
	"pair": func(f finding.Finding, taken model.Time) map[string]any {
		return map[string]any{"F": &f, "Taken": taken}
	},
}).Parse(reportHTML))

// A codeGroup is the findings of one code.
type codeGroup struct {
	Code     finding.Code
	Title    string
	Findings []finding.Finding
}

// grouped puts the findings of a code together, in the order of the first of each.
func grouped(fs []finding.Finding) []*codeGroup {
	var out []*codeGroup
	by := map[finding.Code]*codeGroup{}
	for i := range fs {
		g := by[fs[i].Code]
		if g == nil {
			g = &codeGroup{Code: fs[i].Code}
			if d := detect.ByCode(g.Code); d != nil {
				g.Title = d.Title
			}
			by[fs[i].Code] = g
			out = append(out, g)
		}
		g.Findings = append(g.Findings, fs[i])
	}
	return out
}

func showHTML(sess *term.Session, r *audit.Report) error {
	var patterns []string
	if p := r.Pattern(); p != nil {
		patterns = append(patterns, p.String())
	}
	if p := r.Predating(); p != nil {
		patterns = append(patterns, p.String())
	}
	return reportTemplate.Execute(sess.Stdout, framed(map[string]any{
		"Groups": grouped(r.Findings), "Patterns": patterns,
		"R": r, "Info": r.View.Info(), "GUID": r.View.Snapshot().Meta.GUID, "Totals": r.Totals("finding"), "NotChecked": r.NotChecked(), "Prog": sess.Program,
	}))
}

// framed adds to what a page shows its style and script, and the policy that allows just those.
func framed(data map[string]any) map[string]any {
	style := page.Style + ownStyle
	data["Style"], data["Script"] = template.CSS(style), template.JS(reportScript)           //nolint:gosec // our own, embedded
	data["Policy"] = template.HTMLAttr(`content="` + page.Policy(style, reportScript) + `"`) //nolint:gosec // our own
	return data
}
