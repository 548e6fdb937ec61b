package check

import (
	"fmt"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/finding"
)

// show prints a report as asked for.
func show(sess *term.Session, r *audit.Report, f flags, since *audit.Comparison) error {
	switch f.output {
	case "json", "yaml":
		doc := cluster.ReportOf(r)
		doc.Against = since
		return sess.PrintDocument(doc, f.output)
	case "html":
		return showHTML(sess, r)
	case "name":
		for i := range r.Findings {
			fmt.Fprintln(sess.Stdout, term.Line(r.Findings[i].Key()))
		}
		return nil
	default:
		if since != nil {
			compared(sess, f.against, *since)
		}
		showTable(sess, r, f)
		return nil
	}
}

// showTable prints findings, totals, what was not checked, and what to do next.
func showTable(sess *term.Session, r *audit.Report, f flags) {
	w := sess.Stdout
	cols := sess.Width()
	wide := f.output == "wide"
	if wide {
		cols = 0
	}
	for _, m := range r.MassChanges {
		fmt.Fprintln(w, "! "+term.Line(m))
	}
	if len(r.Findings) > 0 {
		sess.PrintTable(cols, findingRows(r.Findings, r.Taken, f.list || wide, wide))
		fmt.Fprintln(w)
	}
	if len(r.Unconfirmed) > 0 {
		fmt.Fprintln(w, "Unconfirmed:")
		sess.PrintTable(cols, findingRows(r.Unconfirmed, r.Taken, f.list || wide, wide))
		fmt.Fprintln(w)
	}
	what := "finding"
	if f.against != "" {
		what = "new finding"
	}
	sess.PrintLines(cols, totals(r, what))
	pattern, predating := patterns(r, f)
	if pattern != nil {
		sess.PrintLines(cols, "Pattern: "+pattern.String())
	}
	if predating != nil {
		sess.PrintLines(cols, "Pattern: "+predating.String())
	}
	if len(r.Findings) == 0 {
		sess.PrintLabelled(cols, "", judged(r, f))
	}
	for _, l := range notChecked(r) {
		sess.PrintLines(cols, l)
	}
	switch {
	case len(r.Findings) > 0:
		sess.Next("explain %s", term.Quoted(term.ShortIDs(r.Findings[0].Key())))
	case len(r.Unconfirmed) > 0 && !r.RecheckAfter().IsZero() && sess.Bundle == "":
		sess.Next("check --wait")
	case len(r.Unconfirmed) > 0:
		sess.Next("check -o wide")
	default:
		sess.Next("status")
	}
}

// patterns are those of a report; the controller has told those of all findings.
func patterns(r *audit.Report, f flags) (*audit.Pattern, *audit.Predating) {
	if f.by != nil && f.wholeOnly() == "" {
		return f.by.Pattern, f.by.Predating
	}
	return r.Pattern(), r.Predating()
}

// totals counts the findings in one line.
func totals(r *audit.Report, what string) string {
	n := map[finding.Severity]int{}
	for i := range r.Findings {
		n[r.Findings[i].Severity]++
	}
	var by []string
	for _, s := range []finding.Severity{finding.Error, finding.Warning, finding.Info} {
		if n[s] > 0 {
			by = append(by, fmt.Sprintf("%s %s", term.Thousands(n[s]), s))
		}
	}
	out := "No " + what + "s"
	if len(r.Findings) > 0 {
		out = fmt.Sprintf("%s (%s)", term.Count(len(r.Findings), what), strings.Join(by, ", "))
	}
	if len(r.Unconfirmed) > 0 {
		out += fmt.Sprintf("; %s unconfirmed", term.Thousands(len(r.Unconfirmed)))
		if t := r.RecheckAfter(); !t.IsZero() {
			layout, at := "15:04 UTC", t.Add(59*time.Second).Time().UTC()
			if at.Format(time.DateOnly) != r.Taken.Time().UTC().Format(time.DateOnly) {
				layout = term.MinuteLayout
			}
			out += "; recheck after " + at.Format(layout)
		}
	}
	if len(r.Suppressed) > 0 {
		out += fmt.Sprintf("; %s suppressed", term.Thousands(len(r.Suppressed)))
	}
	return out
}
