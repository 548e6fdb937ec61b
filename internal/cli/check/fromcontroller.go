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
	told, err := cluster.FromController(ctx, sess.Cluster)
	if err != nil {
		return fmt.Errorf("--from-controller: %w", err)
	}
	fmt.Fprintf(sess.Stderr, "judged by %s %s ago\n", told.By, told.Age.Round(time.Second))
	if told.Age > outdated {
		fmt.Fprintln(sess.Stderr, "this is old: the controller may be cut off; check without --from-controller reads the cluster")
	}
	only(told.Report, f.codes, keep)
	if err := unknownTo(told, f); err != nil {
		return err
	}
	f.by = told
	if term.IsDocument(f.output) {
		doc := cluster.ReportOf(told.Report)
		doc.Pattern, doc.Predating = patterns(told.Report, f)
		err = sess.PrintDocument(doc, f.output)
	} else {
		err = show(sess, told.Report, f, nil)
	}
	if err = cmp.Or(err, verdict(told.Report, f)); err == nil && told.Age > outdated {
		return term.ExitGaps
	}
	return err
}

// only keeps what was asked for. What was shown under another finding that is not wanted is shown by itself.
func only(r *audit.Report, codes []string, keep func(*finding.Finding) bool) {
	of := func(c finding.Code) bool {
		return len(codes) == 0 || slices.ContainsFunc(codes, func(s string) bool { return strings.EqualFold(s, string(c)) })
	}
	for _, fs := range []*[]finding.Finding{&r.Findings, &r.Unconfirmed, &r.Suppressed, &r.Folded} {
		*fs = slices.DeleteFunc(*fs, func(x finding.Finding) bool { return !of(x.Code) || keep != nil && !keep(&x) })
	}
	r.Skipped = slices.DeleteFunc(r.Skipped, func(s detect.Skip) bool { return !of(s.Code) })
	under := map[string]bool{}
	for _, fs := range [][]finding.Finding{r.Findings, r.Unconfirmed} {
		for i := range fs {
			for _, key := range fs[i].Explains {
				under[key] = true
			}
		}
	}
	for _, f := range r.Folded {
		switch {
		case under[f.Key()]:
		case f.State == finding.Confirmed:
			r.Findings = append(r.Findings, f)
		default:
			r.Unconfirmed = append(r.Unconfirmed, f)
		}
	}
	finding.Sort(r.Findings)
	finding.Sort(r.Unconfirmed)
}

// unknownTo refuses names that the controller has not seen, and has no finding about.
func unknownTo(told *cluster.Told, f flags) error {
	if len(told.Findings)+len(told.Unconfirmed)+len(told.Suppressed) > 0 {
		return nil
	}
	if f.node != "" && !slices.Contains(told.Names.Nodes, f.node) {
		return fmt.Errorf("--node %s: no such node", f.node)
	}
	if f.namespace != "" && !slices.Contains(told.Names.Namespaces, f.namespace) {
		return fmt.Errorf("-n %s: no pod is in this namespace", f.namespace)
	}
	return nil
}

// readsCluster names a flag that was given and means nothing for what was judged already.
func (f *flags) readsCluster(sess *term.Session) string {
	if flag := f.needsCluster(sess); flag != "" {
		return flag
	}
	for _, of := range []struct {
		flag  string
		given bool
	}{
		{"--bundle", sess.Bundle != ""},
		{"--settle", f.settle != 0},
		{"--suppress", f.suppress != ""},
		{"--selector", f.selector != ""},
		{"--logs", len(f.logs) > 0},
		{"--against", f.against != ""},
		{"-o html", f.output == "html"},
	} {
		if of.given {
			return of.flag
		}
	}
	return ""
}
