package check

import (
	"fmt"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/plain"
)

// show prints a report as asked for.
func show(sess *term.Session, r *audit.Report, f flags, since *audit.Comparison) error {
	if term.IsDocument(f.output) {
		doc := cluster.ReportOf(r)
		doc.Against = since
		return sess.PrintDocument(doc, f.output)
	}
	judged, err := detectorsOf(f.codes)
	if err != nil {
		return err
	}
	switch f.output {
	case "html":
		return showHTML(sess, r)
	case "junit":
		return showJUnit(sess.Stdout, r, judged, finding.Severity(f.failOn))
	case "sarif":
		return sess.PrintDocument(sarifOf(r, sess.Cluster.Version), "json")
	case "openreports":
		return sess.PrintDocument(openReportOf(r, judged), "json")
	case "name":
		term.PrintNames(sess, r.Findings, (*finding.Finding).Key)
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
		fmt.Fprintln(w, "! "+plain.Line(m))
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
	sess.PrintLines(cols, r.Totals(what))
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
	for _, l := range r.NotChecked() {
		sess.PrintLines(cols, l)
	}
	switch {
	case len(r.Findings) > 0:
		sess.Next("explain %s", plain.Quoted(plain.ShortIDs(r.Findings[0].Key())))
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
