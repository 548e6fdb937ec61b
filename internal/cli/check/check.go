// Package check has the verbs that read a whole cluster: check, status and collect.
package check

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
)

// flags say what to check and how to show it.
type flags struct {
	namespace string
	all       bool // namespaces
	selector  string
	node      string
	codes     []string
	wait      bool
	settle    time.Duration
	failOn    string
	doubtful  bool // fail on unconfirmed findings too
	require   []string
	suppress  string
	list      bool
	watch     bool
	output    string
	logs      []string
	against   string // a file of an earlier check
	probe     bool
	probes    cluster.Probe // started with probe
	told      bool          // by the controller
	by        *cluster.Told // what it said, with told

	fleet       bool     // several clusters
	contexts    []string // of these
	allContexts bool
}

// Command is the command check.
func Command(sess *term.Session) *cobra.Command {
	var f flags
	c := &cobra.Command{
		Use:   "check",
		Short: "Find drift between Kubernetes, Calico IPAM and the nodes",
		Long: "Reads pods, nodes and the Calico datastore, and kernel and runtime of the nodes\n" +
			"where agents run. Rereads the objects of each difference and reports those\n" +
			"that have persisted long enough to be confirmed. check changes nothing.\n\n" +
			"Exit code: 0 no findings; 1 findings; 2 could not read the cluster; 3 no\n" +
			"findings, but not everything could be checked.",
		Example: fmt.Sprintf("  %[1]s check\n  %[1]s check -n shop\n  %[1]s check --code PL2001,PL2010 -o json\n  %[1]s check --wait\n  %[1]s check --contexts prod-eu,prod-us -o html > fleet.html", sess.Program),
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.fleet = cmd.Flags().Changed("contexts") || f.allContexts
			return run(cmd.Context(), sess, f)
		},
	}
	l := c.Flags()
	l.StringVarP(&f.namespace, "namespace", "n", "", "only findings about this namespace")
	l.BoolVarP(&f.all, "all-namespaces", "A", false, "all namespaces (the default)")
	l.StringVarP(&f.selector, "selector", "l", "", "only findings about pods with these labels")
	l.StringVar(&f.node, "node", "", "only findings about this node")
	l.StringSliceVar(&f.codes, "code", nil, "only these codes")
	_ = c.RegisterFlagCompletionFunc("code", term.CompleteList(detect.Listed())) // the flag exists
	l.BoolVar(&f.wait, "wait", false, "wait once, until the unconfirmed findings can be confirmed")
	l.DurationVar(&f.settle, "settle", 0, "how long a difference must persist to be confirmed, instead of the time of its kind")
	l.StringVar(&f.failOn, "fail-on", "warning", "lowest severity for exit code 1: info, warning or error")
	l.BoolVar(&f.doubtful, "fail-on-unconfirmed", false, "unconfirmed findings count for exit code 1 too")
	l.StringSliceVar(&f.require, "require", nil, "sources that must be read completely: kubernetes, calico, node")
	l.StringVar(&f.suppress, "suppress", "", "file of known and accepted findings")
	l.BoolVar(&f.list, "all", false, "list every finding instead of one line per group")
	l.StringSliceVar(&f.contexts, "contexts", nil, "check the clusters of these contexts of the kubeconfig")
	l.BoolVar(&f.allContexts, "all-contexts", false, "check the clusters of all contexts of the kubeconfig")
	l.BoolVarP(&f.watch, "watch", "w", false, "follow the cluster and show new and resolved findings")
	l.BoolVar(&f.probe, "probe", false, "if no agents are installed: run a short-lived pod on each node to read its state")
	l.StringVar(&f.probes.Image, "probe-image", cluster.ProbeImage(sess.Cluster.Version), "image of the probe pods")
	l.StringVar(&f.probes.Namespace, "probe-namespace", "kube-system", "namespace of the probe pods")
	l.BoolVar(&sess.Cluster.Quick, "quick", false, "read only metadata of pods and names of handles; lists the codes that cannot be checked")
	l.StringVar(&f.against, "against", "", "an earlier check, as check -o json or collect wrote it: show what is new since then, and what is gone")
	l.BoolVar(&f.told, "from-controller", false, "show what the controller judged last, instead of reading the cluster")
	l.StringSliceVar(&f.logs, "logs", nil, "logs to search for the causes of findings: file, directory, archive, or -")
	term.OutputFlag(l, &f.output, "text", "wide", "json", "html", "junit", "sarif", "openreports", "name")
	return c
}

func run(ctx context.Context, sess *term.Session, f flags) error {
	opts, err := auditOptions(f)
	if err != nil {
		return err
	}
	if f.fleet {
		return fleet(ctx, sess, f, opts)
	}
	if f.told {
		return fromController(ctx, sess, f, opts.Keep)
	}
	if flag := f.needsCluster(sess); flag != "" && sess.Bundle != "" {
		return fmt.Errorf("%s: not with --bundle, which does not change", flag)
	}
	if f.probe {
		sess.Cluster.Probe = f.probes
	}
	if f.watch && (len(f.logs) > 0 || f.against != "") {
		return errors.New("--logs and --against: not with --watch")
	}
	if flag := f.wholeOnly(); f.against != "" && flag != "" {
		return fmt.Errorf("--against: compares the whole cluster: not with %s", flag)
	}
	if f.against != "" && slices.Contains([]string{"html", "junit", "sarif", "openreports"}, f.output) {
		return fmt.Errorf("--against: not with -o %s, which shows all findings", f.output)
	}
	var earlier audit.Earlier
	if f.against != "" { // a file that cannot be read is said before the cluster is
		if earlier, err = readEarlier(ctx, f.against, opts); err != nil {
			return fmt.Errorf("--against: %w", err)
		}
	}
	if f.watch {
		return watch(ctx, sess, f, opts)
	}
	r, err := checkSettled(ctx, sess, f, opts)
	if err != nil {
		return err
	}
	if err := cluster.UnknownNames(r.View, sess.Bundle != "", f.node, f.namespace, len(r.Findings)+len(r.Unconfirmed)+len(r.Suppressed)); err != nil {
		return err
	}
	if len(f.logs) > 0 {
		if err := addCauses(ctx, sess, r, f, opts.Keep); err != nil {
			return err
		}
	}
	if f.against == "" {
		if err := show(sess, r, f, nil); err != nil {
			return err
		}
		return verdict(r, f)
	}
	c, err := since(r, earlier)
	if err != nil {
		return err
	}
	fresh := onlyNew(r, *c)
	if !term.IsDocument(f.output) {
		r = fresh
	}
	if err := show(sess, r, f, c); err != nil {
		return err
	}
	return verdict(fresh, f)
}

// needsCluster names a flag that was given and means nothing for a bundle.
func (f *flags) needsCluster(sess *term.Session) string {
	switch {
	case f.wait:
		return "--wait"
	case f.watch:
		return "--watch"
	case f.probe:
		return "--probe"
	case sess.Cluster.Quick:
		return "--quick"
	default:
		return ""
	}
}

// checkSettled makes a check and, with --wait, a second one when unconfirmed findings can be
// confirmed.
func checkSettled(ctx context.Context, sess *term.Session, f flags, opts audit.Options) (*audit.Report, error) {
	r, err := sess.Check(ctx, opts, f.namespace, f.selector)
	if err != nil || !f.wait || len(r.Unconfirmed) == 0 || r.RecheckAfter().IsZero() {
		return r, err
	}
	if err := sleep(ctx, sess, r.RecheckAfter().Sub(r.Taken)); err != nil {
		return nil, err
	}
	return sess.Check(ctx, opts, f.namespace, f.selector)
}

// sleep waits once, and says for how long.
func sleep(ctx context.Context, sess *term.Session, d time.Duration) error {
	d += time.Second // times are cut to seconds
	fmt.Fprintf(sess.Stderr, "waiting %s until unconfirmed findings can be confirmed\n", d)
	return cluster.Wait(ctx, d)
}

// verdict is the exit code of a check.
func verdict(r *audit.Report, f flags) error {
	count := r.Findings
	if f.doubtful {
		count = slices.Concat(count, r.Unconfirmed)
	}
	for i := range count {
		if count[i].Severity.Level() >= finding.Severity(f.failOn).Level() {
			return term.ExitFindings
		}
	}
	for _, s := range r.Skipped {
		if !s.NotApplicable && !s.OutOfScope && (len(s.Nodes) == 0 || f.node == "" || slices.Contains(s.Nodes, f.node)) {
			return term.ExitGaps
		}
	}
	for _, c := range r.Gaps {
		if c.Table.Supplements() {
			continue
		}
		if f.node == "" || c.Node == "" || c.Node == f.node { // another node's silence is not what was asked about
			return term.ExitGaps
		}
	}
	if r.Unread(f.require) {
		return term.ExitGaps
	}
	return nil
}
