package explain

import (
	"context"
	"fmt"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/plain"
	"plumbline.dev/plumbline/internal/timeline"
)

// seekCauses reads the logs that were named, or asks the agents of the nodes concerned for
// their lines about the pod. Without either nothing is said of causes.
func seekCauses(ctx context.Context, sess *term.Session, r *audit.Report, paths []string, pod string) error {
	var log *timeline.Log
	var err error
	switch {
	case len(paths) > 0:
		if log, err = sess.ReadLogs(ctx, paths, cluster.LogQuestion{}); err != nil {
			return err
		}
	case pod == "" || len(r.Findings)+len(r.Unconfirmed) == 0 || !r.View.Agents() || sess.Bundle != "":
		return nil
	default:
		o, done := sess.Options()
		var missing []string
		log, missing, err = cluster.Logs(ctx, o, cluster.LogQuestion{Pod: pod})
		done()
		if err != nil {
			fmt.Fprintf(sess.Stderr, "logs were not read: %s\n", plain.Clean(err.Error()))
			return nil
		}
		for _, m := range missing {
			fmt.Fprintln(sess.Stderr, plain.Line(m))
		}
	}
	verdicts, _, _ := timeline.JudgeAll(log)
	timeline.SetCauses(verdicts, log.Files(), r.Findings, r.Unconfirmed)
	return nil
}

// podOf is the pod that a finding is about, if it is about one.
func podOf(f *finding.Finding) string {
	if f.Subject.Kind == model.KindPod {
		return f.Subject.Name
	}
	for _, r := range f.About {
		if r.Kind == model.KindPod {
			return r.Name
		}
	}
	return ""
}

// causeLines say how a finding came about.
func causeLines(sess *term.Session, f *finding.Finding, cols int) {
	for _, c := range f.Causes {
		at := ""
		if !c.At.IsZero() {
			at = " at " + c.At.Time().Format("2006-01-02 15:04:05Z")
		}
		sess.PrintLabelled(cols, "Cause     ", fmt.Sprintf("%s%s [%s]", c.Says, at, c.Certainty))
		if n := len(c.Lines); n > 0 {
			more := ""
			if n > 1 {
				more = fmt.Sprintf(" and %d more lines", n-1)
			}
			sess.PrintLines(cols, "          "+c.Lines[0]+more)
		}
	}
}
