package timeline

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/plain"
	"plumbline.dev/plumbline/internal/timeline"
)

var errAllNeedsLogs = errors.New("specify a pod, an IP or a sandbox, or pass --logs")

// A summary is what timeline -o json prints if nobody was named.
type summary struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Pods       int       `json:"pods"` // that the logs report
	Verdicts   []verdict `json:"verdicts"`
	// FailedCalls are the CNI calls that failed, whether or not they are of a known pattern.
	FailedCalls []timeline.FailedCalls `json:"failedCalls"`
	// Unexplained is what happened to sandboxes in use without a line that shows why.
	Unexplained []unexplained `json:"unexplained"`
	// Account says what was read and understood: the verdicts are about that only.
	Account timeline.Account `json:"account"`
	Files   []timeline.File  `json:"files"`
}

// showAll lists all verdicts.
func showAll(sess *term.Session, log *timeline.Log, output string) error {
	verdicts, open, pods := timeline.JudgeAll(log)
	failed := log.FailedCalls()
	files := log.Files()
	account := timeline.AccountOf(files)
	switch {
	case term.IsDocument(output):
		doc := summary{APIVersion: cluster.APIVersion, Kind: "TimelineSummary", Pods: pods, Verdicts: []verdict{}, FailedCalls: term.NotNil(failed), Unexplained: []unexplained{}, Account: account, Files: term.NotNil(files)}
		for _, v := range verdicts {
			doc.Verdicts = append(doc.Verdicts, verdict{v, linesAt(files, v.Lines)})
		}
		for _, u := range open {
			doc.Unexplained = append(doc.Unexplained, unexplained{u, linesAt(files, u.Lines)})
		}
		if err := sess.PrintDocument(doc, output); err != nil {
			return err
		}
		return found(exit(files, nil), len(verdicts)+len(failed)+len(open))
	case output == "html":
		return errors.New("-o html shows one pod: pass pod NAME")
	}
	printLeft(sess, files)
	cols := sess.Width()
	if len(verdicts) == 0 {
		sess.PrintLines(cols, fmt.Sprintf("No known failure pattern: %s.", plain.Count(pods, "pod")))
		printOpen(sess, open, cols)
		sess.PrintLines(cols, failedCalls(failed))
		fmt.Fprintf(sess.Stdout, "(%s)\n", account.Says())
		if len(open) > 0 {
			nextPod(sess, open[0].Pod)
		}
		return found(exit(files, nil), len(failed)+len(open))
	}
	if output == "wide" {
		cols = 0
	}
	next := ""
	for _, v := range verdicts {
		at := "undated"
		if !v.At.IsZero() {
			at = plain.Stamp(v.At)
		}
		sess.PrintLines(cols, at+"  "+subject(&v, files))
		sess.PrintLabelled(cols, "    ", fmt.Sprintf("%s: %s [%s]", v.Cause, v.Says, v.Certainty))
		if next == "" && v.Pod != "" {
			next = v.Pod
		}
	}
	fmt.Fprintf(sess.Stdout, "\n%s, %s (%s)\n", plain.Count(len(verdicts), "verdict"), plain.Count(pods, "pod"), account.Says())
	printOpen(sess, open, cols)
	sess.PrintLines(cols, failedCalls(failed))
	nextPod(sess, next)
	return found(exit(files, nil), len(verdicts))
}

// nextPod prints the command that shows one pod.
func nextPod(sess *term.Session, pod string) {
	if ns, name, ok := strings.Cut(pod, "/"); ok {
		sess.Next("timeline pod %s -n %s --logs ...", plain.Line(name), plain.Line(ns))
	}
}

// mostOpen is how many unexplained removals are listed.
const mostOpen = 10

// printOpen lists what no line explains.
func printOpen(sess *term.Session, open []timeline.Unexplained, cols int) {
	for i, u := range open {
		if i == mostOpen {
			sess.PrintLines(cols, fmt.Sprintf("UNKNOWN   %d more", len(open)-mostOpen))
			return
		}
		sess.PrintLabelled(cols, "UNKNOWN   ", u.Pod+": "+u.Says)
	}
}

// found is the exit code of logs in which something went wrong; that they were not read completely counts more.
func found(err error, n int) error {
	if err == nil && n > 0 {
		return term.ExitFindings
	}
	return err
}

// mostCauses is how many causes of failed calls are listed.
const mostCauses = 5

// failedCalls says what failed, whether or not it is of a known pattern.
func failedCalls(all []timeline.FailedCalls) string {
	if len(all) == 0 {
		return "No failed CNI call."
	}
	n := 0
	var parts []string
	for i, f := range all {
		n += f.Count
		if i == mostCauses {
			parts = append(parts, fmt.Sprintf("%d more causes", len(all)-mostCauses))
		}
		if i >= mostCauses {
			continue
		}
		of := "pods that no line names"
		if f.Pods > 0 {
			of = plain.Count(f.Pods, "pod")
		}
		parts = append(parts, fmt.Sprintf("%d %s (%s, of %s)", f.Count, f.Call, cmp.Or(f.Cause, "no known cause"), of))
	}
	return plain.Count(n, "failed CNI call") + ": " + strings.Join(parts, "; ") + "."
}

// subject gives what a verdict is about: its pod, its node, or at least a line.
func subject(v *timeline.Verdict, files []timeline.File) string {
	switch lines := linesAt(files, v.Lines); {
	case v.Pod != "":
		return v.Pod
	case v.Node != "":
		return "node " + v.Node
	case len(lines) > 0:
		return lines[0]
	default:
		return "-"
	}
}
