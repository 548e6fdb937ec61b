package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// show prints a report as asked for.
func show(sess *term.Session, r *audit.Report, f checkFlags) error {
	switch f.output {
	case "json", "yaml":
		return sess.PrintDocument(cluster.ReportOf(r), f.output)
	case "html":
		return showHTML(sess, r)
	case "name":
		for i := range r.Findings {
			fmt.Fprintln(sess.Stdout, term.Line(r.Findings[i].Key()))
		}
		return nil
	default:
		showTable(sess, r, f)
		return nil
	}
}

// groupAbove is how many findings of one code are listed one by one.
const groupAbove = 5

func showTable(sess *term.Session, r *audit.Report, f checkFlags) {
	w := sess.Stdout
	cols := sess.Width()
	wide := f.output == "wide"
	if wide {
		cols = 0
	}
	for _, m := range r.MassChanges {
		fmt.Fprintln(w, "! "+m)
	}
	if len(r.Findings) > 0 {
		sess.PrintTable(cols, findingRows(r.Findings, r.Taken, f.list || wide, wide))
		fmt.Fprintln(w)
	}
	if wide && len(r.Unconfirmed) > 0 {
		fmt.Fprintln(w, "Unconfirmed:")
		sess.PrintTable(cols, findingRows(r.Unconfirmed, r.Taken, true, true))
		fmt.Fprintln(w)
	}
	sess.PrintLines(cols, totals(r))
	if p := r.Pattern(); p != nil {
		sess.PrintLines(cols, "Pattern: "+term.Line(p.String()))
	}
	for _, l := range notSeen(r) {
		sess.PrintLines(cols, term.Line(l))
	}
	switch {
	case len(r.Findings) > 0:
		sess.Next("explain %s", term.Line(term.ShortIDs(r.Findings[0].Key())))
	case len(r.Unconfirmed) > 0 && !r.RecheckAfter().IsZero():
		sess.Next("check --wait")
	case len(r.Unconfirmed) > 0:
		sess.Next("check -o wide")
	default:
		sess.Next("status")
	}
}

// findingRows is a line for each finding, or for each group of many.
func findingRows(fs []finding.Finding, now model.Time, list, wide bool) [][]string {
	head := []string{"SEV", "FINDING", "AGE", "WHAT"}
	if wide {
		head = []string{"SEV", "FINDING", "AGE", "NODE", "EXPLAINS", "WHAT"}
	}
	rows := [][]string{head}
	many := map[finding.Code][]*finding.Finding{}
	for i := range fs {
		many[fs[i].Code] = append(many[fs[i].Code], &fs[i])
	}
	done := map[finding.Code]bool{}
	for i := range fs {
		f := &fs[i]
		group := many[f.Code]
		if list || len(group) <= groupAbove {
			row := []string{sev(f.Severity), term.Line(term.ShortIDs(f.Key())), term.Age(f.Age(now)), term.Line(term.ShortIDs(f.Summary))}
			if wide {
				row = []string{sev(f.Severity), term.Line(f.Key()), term.Age(f.Age(now)), term.Dash(term.Line(f.Node)), term.Dash(term.Line(strings.Join(f.Explains, ","))), term.Line(f.Summary)}
			}
			rows = append(rows, row)
			continue
		}
		if done[f.Code] {
			continue
		}
		done[f.Code] = true
		rows = append(rows, []string{sev(worst(group)), groupName(f.Code, group), term.Age(oldest(group, now).Age(now)), term.Line(term.ShortIDs(sample(group)))})
	}
	return rows
}

func groupName(c finding.Code, group []*finding.Finding) string {
	nodes := map[string]bool{}
	for _, f := range group {
		if f.Node != "" {
			nodes[f.Node] = true
		}
	}
	what := plural(group[0].Subject.Kind)
	if len(nodes) > 1 {
		return fmt.Sprintf("%s (%s %s, %s nodes)", c, term.Thousands(len(group)), what, term.Thousands(len(nodes)))
	}
	return fmt.Sprintf("%s (%s %s)", c, term.Thousands(len(group)), what)
}

func plural(k model.Kind) string {
	switch k {
	case model.KindAddress:
		return "addresses"
	case model.KindAffinity:
		return "affinities"
	case model.KindCluster:
		return "things"
	default:
		return string(k) + "s"
	}
}

// sample is what a group has in common: its code's title, and one of it.
func sample(group []*finding.Finding) string {
	title := group[0].Summary
	differ := slices.ContainsFunc(group, func(f *finding.Finding) bool { return f.Summary != title })
	if d := detect.ByCode(group[0].Code); d != nil && differ {
		title = d.Title
	}
	return title + ", as " + group[0].Subject.Name
}

func worst(group []*finding.Finding) finding.Severity {
	return slices.MaxFunc(group, func(a, b *finding.Finding) int { return a.Severity.Level() - b.Severity.Level() }).Severity
}

func oldest(group []*finding.Finding, now model.Time) *finding.Finding {
	return slices.MaxFunc(group, func(a, b *finding.Finding) int { return int(a.Age(now) - b.Age(now)) })
}

func sev(s finding.Severity) string { return strings.Replace(string(s), "warning", "warn", 1) }

// totals is the line that says how it stands.
func totals(r *audit.Report) string {
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
	out := "No findings"
	if len(r.Findings) > 0 {
		out = fmt.Sprintf("%s (%s)", term.Count(len(r.Findings), "finding"), strings.Join(by, ", "))
	}
	if len(r.Unconfirmed) > 0 {
		out += fmt.Sprintf("; %s unconfirmed", term.Thousands(len(r.Unconfirmed)))
		if t := r.RecheckAfter(); !t.IsZero() {
			out += "; recheck after " + t.Add(59*time.Second).Time().UTC().Format("15:04 UTC")
		}
	}
	if len(r.Suppressed) > 0 {
		out += fmt.Sprintf("; %s suppressed", term.Thousands(len(r.Suppressed)))
	}
	return out
}
