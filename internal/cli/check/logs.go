package check

import (
	"context"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/timeline"
)

// addCauses reads the logs for what caused the findings, and for credentials, which are
// findings of their own where they are asked for.
func addCauses(ctx context.Context, sess *term.Session, r *audit.Report, f flags, keep func(*finding.Finding) bool) error {
	log, err := sess.ReadLogs(ctx, f.logs, cluster.LogQuestion{})
	if err != nil {
		return err
	}
	verdicts, _, _ := timeline.JudgeAll(log)
	timeline.SetCauses(verdicts, log.Files(), r.Findings, r.Unconfirmed)
	for _, s := range timeline.Secrets(verdicts, log.Files()) {
		if len(f.codes) == 0 && (keep == nil || keep(&s)) {
			r.Findings = append(r.Findings, s)
		}
	}
	finding.Sort(r.Findings)
	return nil
}
