package explain

import (
	"context"
	"errors"
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
	"plumbline.dev/plumbline/internal/plain"
)

var errNoFinding = errors.New("not present in the current check")

// explainFinding checks again and shows all that is known of one finding.
func explainFinding(ctx context.Context, sess *term.Session, name string, f flags) error {
	key, ok := finding.ParseKey(name)
	d := detect.ByCode(key.Code)
	if !ok || d == nil {
		return fmt.Errorf("explain %s: want a code such as PL2001, or a finding such as PL2001/shop/db-0", name)
	}
	r, err := check(ctx, sess, f, nil)
	if err != nil {
		return err
	}
	for _, fs := range [][]finding.Finding{r.Findings, r.Unconfirmed} {
		for i := range fs {
			if k := fs[i].Key(); k == name || plain.ShortIDs(k) == name {
				if err := seekCauses(ctx, sess, r, f.logs, podOf(&fs[i])); err != nil {
					return err
				}
				if term.IsDocument(f.output) {
					doc := cluster.ReportOf(r)
					doc.Kind = "FindingExplanation"
					others := func(n cluster.NamedFinding) bool { return n.Name != k }
					doc.Findings, doc.Unconfirmed = slices.DeleteFunc(doc.Findings, others), slices.DeleteFunc(doc.Unconfirmed, others)
					return sess.PrintDocument(doc, f.output)
				}
				findingText(sess, r, &fs[i], f.output == "wide")
				return nil
			}
		}
	}
	for i := range r.Findings {
		for _, k := range r.Findings[i].Explains {
			if k == name || plain.ShortIDs(k) == name {
				return fmt.Errorf("%s is explained by %s", name, r.Findings[i].Key())
			}
		}
	}
	return fmt.Errorf("%s is %w", name, errNoFinding)
}

// findingText shows a finding with its evidence and causes.
func findingText(sess *term.Session, r *audit.Report, f *finding.Finding, wide bool) {
	cols := sess.Width()
	show := plain.ShortIDs
	if wide {
		cols = 0
		show = func(s string) string { return s }
	}
	sess.PrintLines(cols, show(fmt.Sprintf("%s: %s [%s]", f.Key(), f.Summary, f.State)))
	for _, e := range f.Evidence {
		sess.PrintLines(cols, fmt.Sprintf("  %s %s", e.Ref.Kind, show(e.Ref.Name)))
		sess.PrintLabelled(cols, "      ", show(e.Says))
	}
	causeLines(sess, f, cols)
	if len(f.Explains) > 0 {
		sess.PrintLines(cols, "Explains  "+show(strings.Join(f.Explains, ", ")))
	}
	if f.State == finding.Confirmed {
		sess.PrintLines(cols, "Present   for at least "+plain.Age(f.Age(r.Taken)))
	} else {
		why := f.Why
		if !f.RecheckAfter.IsZero() {
			why += "; recheck after " + moments(f.RecheckAfter)
		}
		sess.PrintLines(cols, "Unconfirmed: "+why)
	}
	sess.PrintLines(cols, fmt.Sprintf("Meaning   %s explain %s", sess.Program, f.Code))
	nextOf(sess, f)
}

// moments shows a time to the minute, rounded up: at that minute it has passed.
func moments(t model.Time) string {
	return t.Add(59 * time.Second).Time().UTC().Format(plain.MinuteLayout)
}
