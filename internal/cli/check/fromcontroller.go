package check

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
)

// outdated is the age from which a judgement of the controller counts as old: agents are asked every 20 seconds.
const outdated = 2 * time.Minute

// fromController shows what the controller judged last, instead of reading the cluster.
func fromController(ctx context.Context, sess *term.Session, f flags, keep func(*finding.Finding) bool) error {
	if flag := f.readsCluster(sess); flag != "" {
		return fmt.Errorf("--from-controller: not with %s", flag)
	}
	told, err := cluster.FromController(ctx, sess.Cluster, f.namespace, f.node)
	if err != nil {
		return fmt.Errorf("--from-controller: %w", err)
	}
	fmt.Fprintf(sess.Stderr, "judged by %s %s ago\n", told.By, told.Age.Round(time.Second))
	if told.Age > outdated {
		fmt.Fprintln(sess.Stderr, "this is old: the controller may be cut off; check without --from-controller reads the cluster")
	}
	only(told.Report, f.codes, keep)
	f.checked = &told.Checked
	switch f.output {
	case "json", "yaml":
		doc := cluster.ReportOf(told.Report)
		if keep == nil && len(f.codes) == 0 {
			doc.Pattern, doc.Predating = told.Pattern, told.Predating
		}
		err = sess.PrintDocument(doc, f.output)
	default:
		err = show(sess, told.Report, f, nil)
	}
	if err = cmp.Or(err, verdict(told.Report, f)); err == nil && told.Age > outdated {
		return term.ExitGaps
	}
	return err
}

// only keeps what was asked for.
func only(r *audit.Report, codes []string, keep func(*finding.Finding) bool) {
	of := func(c finding.Code) bool {
		return len(codes) == 0 || slices.ContainsFunc(codes, func(s string) bool { return strings.EqualFold(s, string(c)) })
	}
	for _, fs := range []*[]finding.Finding{&r.Findings, &r.Unconfirmed, &r.Suppressed} {
		*fs = slices.DeleteFunc(*fs, func(x finding.Finding) bool { return !of(x.Code) || keep != nil && !keep(&x) })
	}
	r.Skipped = slices.DeleteFunc(r.Skipped, func(s detect.Skip) bool { return !of(s.Code) })
}

// readsCluster names a flag that was given and means nothing for what was judged already.
func (f *flags) readsCluster(sess *term.Session) string {
	if flag := f.needsCluster(sess); flag != "" {
		return flag
	}
	for name, given := range map[string]bool{
		"--bundle": sess.Bundle != "", "--settle": f.settle != 0, "--suppress": f.suppress != "", "--selector": f.selector != "",
		"--logs": len(f.logs) > 0, "--against": f.against != "", "-o html": f.output == "html",
	} {
		if given {
			return name
		}
	}
	return ""
}
