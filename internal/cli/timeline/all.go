package timeline

import (
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
	// Account says what was read and understood: the verdicts are about that only.
	Account timeline.Account `json:"account"`
	Files   []timeline.File  `json:"files"`
}

// showAll lists all verdicts.
func showAll(sess *term.Session, log *timeline.Log, output string) error {
	verdicts, pods := timeline.JudgeAll(log)
	files := log.Files()
	account := timeline.AccountOf(files)
	switch {
	case term.IsDocument(output):
		doc := summary{APIVersion: cluster.APIVersion, Kind: "TimelineSummary", Pods: pods, Verdicts: []verdict{}, Account: account, Files: term.NotNil(files)}
		for _, v := range verdicts {
			doc.Verdicts = append(doc.Verdicts, verdict{v, linesAt(files, v.Lines)})
		}
		if err := sess.PrintDocument(doc, output); err != nil {
			return err
		}
		return exit(files, nil)
	case output == "html":
		return errors.New("-o html shows one pod: pass pod NAME")
	}
	printLeft(sess, files)
	if len(verdicts) == 0 {
		fmt.Fprintf(sess.Stdout, "No problem found in what was understood: %s\n", plain.Count(pods, "pod"))
		fmt.Fprintf(sess.Stdout, "(%s).\n", account.Says())
		return exit(files, nil)
	}
	cols := sess.Width()
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
	if ns, pod, ok := strings.Cut(next, "/"); ok {
		sess.Next("timeline pod %s -n %s --logs ...", plain.Line(pod), plain.Line(ns))
	}
	return exit(files, nil)
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
