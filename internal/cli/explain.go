package cli

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

type explainFlags struct {
	namespace string
	output    string
	settle    time.Duration
	logs      []string
}

func explainCommand(sess *term.Session) *cobra.Command {
	var f explainFlags
	c := &cobra.Command{
		Use:   "explain CODE | FINDING | pod NAME | ip ADDRESS | node NAME | block CIDR",
		Short: "Explain a code, a finding, or the state of one object in all sources",
		Example: fmt.Sprintf("  %[1]s explain PL1001\n  %[1]s explain PL2001/shop/db-0\n  %[1]s explain pod db-0 -n shop\n"+
			"  %[1]s explain ip 10.244.8.34\n  %[1]s explain block 10.244.8.0/26\n  %[1]s explain node w17", sess.Program),
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error { return runExplain(cmd.Context(), sess, args, f) },
	}
	c.Flags().StringVarP(&f.namespace, "namespace", "n", "", "namespace of the pod")
	c.Flags().StringVarP(&f.output, "output", "o", "text", "text, wide or json")
	c.Flags().DurationVar(&f.settle, "settle", 0, "how long a difference must persist to be confirmed, instead of the time of its kind")
	c.Flags().StringSliceVar(&f.logs, "logs", nil, "logs to search for the cause, instead of the agents' logs: file, directory, archive, or -")
	return c
}

func runExplain(ctx context.Context, sess *term.Session, args []string, f explainFlags) error {
	if err := term.OutputOneOf(f.output, "text", "wide", "json"); err != nil {
		return err
	}
	if len(args) == 1 {
		if code, ok := finding.ParseCode(args[0]); ok {
			return explainCode(sess, code, f.output)
		}
		return explainFinding(ctx, sess, args[0], f)
	}
	kind, name := args[0], args[1]
	switch kind {
	case "pod", "pods", "po":
		ns, pod := sess.PodNamed(name, f.namespace)
		return explainPod(ctx, sess, ns, pod, f)
	case "ip":
		ip, err := netip.ParseAddr(name)
		if err != nil {
			return err
		}
		return explainIP(ctx, sess, ip, f)
	case "node", "nodes", "no":
		return explainNode(ctx, sess, name, f)
	case "block":
		p, err := netip.ParsePrefix(name)
		if err != nil {
			return err
		}
		return explainBlock(ctx, sess, p, f)
	default:
		return fmt.Errorf("explain %s: want pod, ip, node or block", kind)
	}
}

// A codePage is what explain CODE -o json prints.
type codePage struct {
	APIVersion string       `json:"apiVersion"`
	Kind       string       `json:"kind"`
	Code       finding.Code `json:"code"`
	Text       string       `json:"text"` // Markdown
}

func explainCode(sess *term.Session, c finding.Code, output string) error {
	page, ok := detect.Page(c)
	if !ok {
		return fmt.Errorf("no code %s", c)
	}
	if output == "json" {
		return sess.PrintDocument(codePage{cluster.APIVersion, "CodePage", c, page}, output)
	}
	_, err := fmt.Fprint(sess.Stdout, page)
	return err
}

var errNoFinding = errors.New("not present in the current check")

// check checks everything and keeps the findings that are wanted; nil means all.
func check(ctx context.Context, sess *term.Session, f explainFlags, want func(*finding.Finding) bool) (*audit.Report, error) {
	return sess.Check(ctx, audit.Options{Settle: f.settle, Detectors: detect.All, Keep: want}, "", "")
}

// explainFinding checks again and shows all that is known of one finding.
func explainFinding(ctx context.Context, sess *term.Session, name string, f explainFlags) error {
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
			if k := fs[i].Key(); k == name || term.ShortIDs(k) == name {
				if err := seekCauses(ctx, sess, r, f.logs, podOf(&fs[i])); err != nil {
					return err
				}
				if f.output == "json" {
					doc := cluster.ReportOf(r)
					doc.Kind = "FindingExplanation"
					others := func(n cluster.NamedFinding) bool { return n.Name != k }
					doc.Findings, doc.Unconfirmed = slices.DeleteFunc(doc.Findings, others), slices.DeleteFunc(doc.Unconfirmed, others)
					return sess.PrintDocument(doc, "json")
				}
				findingText(sess, r, &fs[i], f.output == "wide")
				return nil
			}
		}
	}
	for i := range r.Findings {
		for _, k := range r.Findings[i].Explains {
			if k == name || term.ShortIDs(k) == name {
				return fmt.Errorf("%s is explained by %s", name, r.Findings[i].Key())
			}
		}
	}
	return fmt.Errorf("%s is %w", name, errNoFinding)
}

func findingText(sess *term.Session, r *audit.Report, f *finding.Finding, wide bool) {
	cols := sess.Width()
	show := term.ShortIDs
	if wide {
		cols = 0
		show = func(s string) string { return s }
	}
	sess.PrintLines(cols, term.Line(show(fmt.Sprintf("%s: %s [%s]", f.Key(), f.Summary, f.State))))
	for _, e := range f.Evidence {
		sess.PrintLines(cols, term.Line(fmt.Sprintf("  %s %s", e.Ref.Kind, show(e.Ref.Name))))
		sess.PrintLabelled(cols, "      ", show(e.Says))
	}
	causeLines(sess, f, cols)
	if len(f.Explains) > 0 {
		sess.PrintLines(cols, "Explains  "+term.Line(show(strings.Join(f.Explains, ", "))))
	}
	if f.State == finding.Confirmed {
		sess.PrintLines(cols, "Present   for at least "+term.Age(f.Age(r.Taken)))
	} else {
		why := f.Why
		if !f.RecheckAfter.IsZero() {
			why += "; recheck after " + moments(f.RecheckAfter)
		}
		sess.PrintLines(cols, "Unconfirmed: "+term.Line(why))
	}
	sess.Next("explain %s", f.Code)
}

// moments rounds up: what is announced for a minute has happened when it begins.
func moments(t model.Time) string {
	return t.Add(59 * time.Second).Time().UTC().Format(term.MinuteLayout)
}
