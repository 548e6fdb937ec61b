package guard

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/guard"
	"plumbline.dev/plumbline/internal/plain"
)

// A status is what guard status -o json prints.
type status struct {
	APIVersion string                `json:"apiVersion"`
	Kind       string                `json:"kind"`
	Nodes      []cluster.GuardStatus `json:"nodes"`
	NotChecked []unreadNode          `json:"notChecked"`
}

// daemonSilentAfter is how old a report may be: the guard daemon writes one every 30 s.
const daemonSilentAfter = 2 * time.Minute

func showGuards(sess *term.Session, all guards, f flags) error {
	if term.IsDocument(f.output) {
		if err := sess.PrintDocument(status{cluster.APIVersion, "GuardStatus", term.NotNil(all.said), unreadList(all.unread)}, f.output); err != nil {
			return err
		}
		return all.exit()
	}
	if f.output == "name" {
		term.PrintNames(sess, all.said, func(n *cluster.GuardStatus) string { return n.Node })
		return all.exit()
	}
	if n := len(all.said); n > 0 && !all.installed() {
		sess.PrintLabelled(sess.Width(), "", fmt.Sprintf("The guard is not installed (%s answered). docs/guard.md describes what it does and how to install it.", plain.Count(n, "node")))
		printUnread(sess, all.unread)
		sess.Next("check --code %s", finding.PL4006)
		return all.exit()
	}
	printStatusTable(sess, all, f)
	printNodeLines(sess, all)
	printUnread(sess, all.unread)
	printNext(sess, all)
	return all.exit()
}

// exit is the exit code: findings if a guard is configured to enforce and does not protect
// its node for certain.
func (all guards) exit() error {
	if slices.ContainsFunc(all.said, func(n cluster.GuardStatus) bool { return n.Report != nil && n.Report.Unprotected() != "" }) {
		return term.ExitFindings
	}
	return gaps(all.unread)
}

func (all guards) installed() bool {
	return slices.ContainsFunc(all.said, func(n cluster.GuardStatus) bool { return n.Report != nil })
}

// printStatusTable lists the nodes that need a look, or all.
func printStatusTable(sess *term.Session, all guards, f flags) {
	wide := f.output == "wide"
	cols := sess.Width()
	rows := [][]string{{"NODE", "MODE", "DELEGATE", "LATE", "STOPPED", "RETRIED", "QUEUE", "DEL p50/p99"}}
	if wide {
		cols = 0
		rows[0] = append(rows[0], "ADD p50/p99", "WANTED", "FILE", "STATE", "PUT", "ADOPTED", "OPEN", "GC")
	}
	var notes footnotes
	more, late := 0, 0
	for i := range all.said {
		n := &all.said[i]
		if !wide && !f.all && f.node == "" && !notable(n) {
			more++
			late += n.Report.Late
			continue
		}
		rows = append(rows, statusRow(n, &notes, wide, cols))
	}
	if len(rows) > 1 {
		sess.PrintTable(cols, rows)
	}
	if more > 0 {
		what := plain.Count(more, "more node")
		if len(rows) == 1 {
			what = plain.Count(more, "node")
		}
		fmt.Fprintf(sess.Stdout, "%s: %d late (--all lists them)\n", what, late)
	}
	for _, n := range notes.said {
		sess.PrintLabelled(cols, "", n)
	}
}

// notable tells whether a node needs a look.
func notable(n *cluster.GuardStatus) bool {
	r := n.Report
	return r == nil || r.Late+r.Stopped+r.Lost+r.Succeeded+r.Open+len(r.Endless)+r.Queue > 0 || inForce(r) != r.Wanted || r.Why != "" || r.Unprotected() != "" || n.Age() > daemonSilentAfter
}

// inForce is the mode that a node's guard is in: one that is not there, as is wanted, is off.
func inForce(r *guard.Report) guard.Mode {
	if r.Mode == "" && r.Wanted == guard.Off {
		return guard.Off
	}
	return r.Mode
}

// besideName is what the table needs beside the nodes' names.
const besideName = 69

func statusRow(n *cluster.GuardStatus, notes *footnotes, wide bool, cols int) []string {
	name := plain.Line(n.Node)
	if cols > 0 {
		name = plain.InMiddle(name, max(8, cols-besideName))
	}
	r := n.Report
	switch {
	case r == nil:
		return []string{name, "-", "not installed"}
	case r.Mode == "" && !wide:
		return []string{name, plain.Dash(string(inForce(r))), "not installed"}
	}
	stopped := plain.Thousands(r.Stopped)
	if n := notes.of(r); n > 0 {
		stopped += fmt.Sprintf(" (%d)", n)
	}
	queue := plain.Thousands(r.Queue)
	if r.Queue == 0 && r.Mode != guard.Enforce {
		queue = "-"
	}
	row := []string{
		name, plain.Dash(string(r.Mode)), plain.Dash(strings.TrimSpace(r.Delegate + " " + r.Version)), plain.Thousands(r.Late), stopped,
		plain.Thousands(len(r.Endless)), queue, spans(r.Dels),
	}
	if wide {
		row = append(row, spans(r.Adds), plain.Dash(string(r.Wanted)), plain.Dash(r.File), plain.Dash(r.State), plain.Thousands(r.Put), plain.Thousands(r.Adopted), plain.Thousands(r.Open), plain.Dash(r.GC))
	}
	return row
}

func spans(t guard.Times) string {
	if t.Count == 0 {
		return "-"
	}
	return millis(t.P50) + "/" + millis(t.P99)
}

// millis writes a duration as people say it.
func millis(ms int64) string {
	if ms < 10_000 {
		return fmt.Sprintf("%dms", ms)
	}
	return fmt.Sprintf("%ds", ms/1000)
}
