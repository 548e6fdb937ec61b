package check

import (
	_ "embed"
	"html/template"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

//go:embed report.html
var reportHTML string

// One file that works from file:// and loads nothing. Whatever comes from the cluster
// goes through html/template, and none of it into script or style.
var reportTemplate = template.Must(template.New("report").Funcs(template.FuncMap{
	"short": term.ShortIDs, "clean": term.Line,
	"age": func(r *audit.Report, since model.Time) string {
		if since.IsZero() {
			return "-"
		}
		return term.Age(r.Taken.Sub(since))
	},
	"date": func(t model.Time) string { return t.String() },
	"pair": func(f finding.Finding, r *audit.Report) map[string]any { return map[string]any{"F": &f, "R": r} },
}).Parse(reportHTML))

func showHTML(sess *term.Session, r *audit.Report) error {
	return reportTemplate.Execute(sess.Stdout, map[string]any{
		"R": r, "Info": r.View.Info(), "GUID": r.View.Snapshot().Meta.GUID, "Totals": totals(r), "NotChecked": notChecked(r), "Prog": sess.Program,
	})
}
