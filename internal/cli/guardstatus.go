package cli

import (
	"fmt"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/guard"
)

// A guardStatus is what guard status -o json prints.
type guardStatus struct {
	APIVersion string                `json:"apiVersion"`
	Kind       string                `json:"kind"`
	Nodes      []cluster.GuardStatus `json:"nodes"`
	NotChecked []unreadNode          `json:"notChecked"`
}

// daemonSilentAfter is how old a report may be: the keeper writes one every 30 s.
const daemonSilentAfter = 2 * time.Minute

func showGuards(sess *term.Session, all guards, f guardFlags) error {
	if f.output == "json" {
		if err := sess.PrintDocument(guardStatus{cluster.APIVersion, "GuardStatus", term.NotNil(all.said), unseenList(all.unseen)}, "json"); err != nil {
			return err
		}
		return gaps(all.unseen)
	}
	if n := len(all.said); n > 0 && !all.installed() {
		sess.PrintLabelled(sess.Width(), "", fmt.Sprintf("The guard is not installed (%s answered). docs/guard.md describes what it does and how to install it.", term.Count(n, "node")))
		notSeenLines(sess, all.unseen)
		sess.Next("check --code PL4006")
		return gaps(all.unseen)
	}
	guardTable(sess, all, f)
	guardLines(sess, all)
	notSeenLines(sess, all.unseen)
	guardNext(sess, all)
	return gaps(all.unseen)
}

func (all guards) installed() bool {
	for i := range all.said {
		if all.said[i].Report != nil {
			return true
		}
	}
	return false
}

// guardTable lists the nodes that need a look, or all.
func guardTable(sess *term.Session, all guards, f guardFlags) {
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
		rows = append(rows, guardRow(n, &notes, wide, cols))
	}
	if len(rows) > 1 {
		sess.PrintTable(cols, rows)
	}
	if more > 0 {
		what := fmt.Sprintf("%s more nodes", term.Thousands(more))
		if more == 1 {
			what = "1 more node"
		}
		if len(rows) == 1 {
			what = term.Count(more, "node")
		}
		fmt.Fprintf(sess.Stdout, "%s: %d late (-A lists them)\n", what, late)
	}
	for _, n := range notes.said {
		sess.PrintLabelled(cols, "", n)
	}
}

// notable tells whether a node needs a look.
func notable(n *cluster.GuardStatus) bool {
	r := n.Report
	return r == nil || r.Late+r.Stopped+r.Lost+r.Succeeded+r.Open+len(r.Endless)+r.Queue > 0 || inForce(r) != r.Wanted || r.Why != "" || n.Age() > daemonSilentAfter
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

// inMiddle shortens a name so that both of its ends are left; 0 means not at all.
func inMiddle(s string, width int) string {
	r := []rune(s)
	if width <= 0 || len(r) <= width {
		return s
	}
	head := (width - 1) / 2
	return string(r[:head]) + "…" + string(r[len(r)-(width-1-head):])
}

func guardRow(n *cluster.GuardStatus, notes *footnotes, wide bool, cols int) []string {
	name := term.Line(n.Node)
	if cols > 0 {
		name = inMiddle(name, max(8, cols-besideName))
	}
	r := n.Report
	switch {
	case r == nil:
		return []string{name, "-", "not installed"}
	case r.Mode == "" && !wide:
		return []string{name, term.Dash(string(inForce(r))), "not installed"}
	}
	stopped := term.Thousands(r.Stopped)
	if n := notes.of(r); n > 0 {
		stopped += fmt.Sprintf(" (%d)", n)
	}
	queue := term.Thousands(r.Queue)
	if r.Queue == 0 && r.Mode != guard.Enforce {
		queue = "-"
	}
	row := []string{
		name, term.Dash(term.Line(string(r.Mode))), term.Dash(term.Line(strings.TrimSpace(r.Delegate + " " + r.Version))), term.Thousands(r.Late), stopped,
		term.Thousands(len(r.Endless)), queue, spans(r.Dels),
	}
	if wide {
		row = append(row, spans(r.Adds), term.Dash(term.Line(string(r.Wanted))), term.Dash(term.Line(r.File)), term.Dash(term.Line(r.State)), term.Thousands(r.Put), term.Thousands(r.Adopted), term.Thousands(r.Open), term.Dash(term.Line(r.GC)))
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

// Footnotes say why late DELs were passed on although the guard may stop them.
type footnotes struct {
	said []string
}

func (f *footnotes) of(r *guard.Report) int {
	if r.Mode != guard.Enforce || r.Late <= r.Stopped {
		return 0
	}
	came := "no loss found on the node" // Calico IPAM is for check
	if r.Lost > 0 {
		came = "A POD WAS HARMED: see guard log"
	}
	var text string
	switch r.Keyed {
	case guard.ByContainer:
		text = fmt.Sprintf("%s compares container IDs: passed on, owner checked, %s", term.Dash(r.Version), came)
	case guard.ByName, guard.ByBoth:
		text = "some arrived before the guard was switched to enforce and were passed on; owner checked, " + came
	default:
		text = fmt.Sprintf("it is not known whether %s compares container IDs: passed on, owner checked, %s", strings.TrimSpace(term.Dash(r.Delegate)+" "+r.Version), came)
	}
	for i, s := range f.said {
		if strings.HasSuffix(s, text) {
			return i + 1
		}
	}
	f.said = append(f.said, fmt.Sprintf("(%d) %s", len(f.said)+1, text))
	return len(f.said)
}
