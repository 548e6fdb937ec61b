package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/execute"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/journal"
	"plumbline.dev/plumbline/internal/repair"
)

// exitStopped means that a plan was begun and did not come to its end.
const exitStopped = 4

// applyFlags say how to carry out a plan.
type applyFlags struct {
	file    string
	resume  string
	dryRun  string
	maxRisk string
	budget  []string
	journal string
}

func (g *global) applyCommand() *cobra.Command {
	var f applyFlags
	c := &cobra.Command{
		Use:   "apply -f FILE | --resume PLAN",
		Short: "Carry out a plan, one compare-and-swap after the other",
		Long: "Reads the plan, looks at the cluster again, and carries out step by step what\n" +
			"still is as the plan says. Before every write the object is read live and\n" +
			"compared, and the nodes are asked; what cannot be proven is left alone. A\n" +
			"journal on disk is ahead of every write: --resume goes on after a crash, undo\n" +
			"takes it back.\n\n" +
			"One apply runs per cluster at a time. To stop every one within seconds:\n" +
			"  kubectl -n kube-system create configmap plumbline-stop\n\n" +
			"Exit code: 0 all is repaired; 1 something was left alone; 2 could not begin;\n" +
			"4 was stopped half way.",
		Example: fmt.Sprintf("  %[1]s apply -f plan.yaml --dry-run=server\n  %[1]s apply -f plan.yaml\n  %[1]s apply -f plan.yaml --max-risk disruptive\n  %[1]s apply --resume 7f3a1c", g.prog),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("a plan is given with -f: apply -f %s", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return g.runApply(cmd.Context(), f) },
	}
	l := c.Flags()
	l.StringVarP(&f.file, "filename", "f", "", "the plan, as plan --save wrote it; - is stdin")
	l.StringVar(&f.resume, "resume", "", "go on with this plan, which was interrupted")
	f.bind(c)
	return c
}

// bind adds the flags that apply and undo share.
func (f *applyFlags) bind(c *cobra.Command) {
	l := c.Flags()
	l.StringVar(&f.dryRun, "dry-run", "none", "server: read, compare and ask the nodes, and write nothing")
	l.Lookup("dry-run").NoOptDefVal = "server"
	l.StringVar(&f.maxRisk, "max-risk", "safe", "the most that may be risked: safe, disruptive or destructive")
	l.StringSliceVar(&f.budget, "budget", nil, "writes in a second: blocks=10,handles=100,others=20")
	l.StringVar(&f.journal, "journal", "disk", "disk, or cluster: a copy for others in plumbline-system")
}

func (g *global) runApply(ctx context.Context, f applyFlags) error {
	switch {
	case f.file == "" && f.resume == "":
		return errors.New("give a plan with -f FILE, or --resume PLAN")
	case f.file != "" && f.resume != "":
		return errors.New("give either -f FILE or --resume PLAN, not both")
	}
	if g.bundle != "" {
		return errors.New("a plan is applied to a cluster, not to a file")
	}
	var p *repair.Plan
	if f.file != "" { // before anybody is kept waiting by our lease
		var err error
		if p, err = g.readPlan(f.file); err != nil {
			return err
		}
	}
	w, err := g.beginWork(ctx, f)
	if err != nil {
		return err
	}
	defer w.close()
	if w.plan = p; f.resume != "" {
		if err := w.open(ctx, f.resume); err != nil {
			return err
		}
	}
	if err := w.fits(ctx); err != nil {
		return err
	}
	if f.resume == "" {
		if err := w.create(); err != nil {
			return err
		}
	}
	return w.carryOut(ctx)
}

// fits refuses a plan that is not for this cluster as it is: another one, one that was
// restored from a backup since, one whose datastore is locked, or one that is not proven.
func (w *applyRun) fits(ctx context.Context) error {
	p := w.plan
	r, err := w.g.checkAll(ctx, w.c, 0)
	if err != nil {
		return err
	}
	w.before = r
	info := r.View.Info()
	switch {
	case info.GUID != p.Cluster:
		return fmt.Errorf("the plan is for cluster %s, and this is %s", p.Cluster, info.GUID)
	case !info.Ready:
		return errors.New("Calico's datastore is locked: somebody migrates it, or forgot to unlock it") //nolint:staticcheck // Calico is a name
	case repair.Unproven(r.View) != "" && p.Writes():
		return errors.New(repair.Unproven(r.View))
	case len(p.Steps) == 0:
		return errors.New("the plan has no steps")
	}
	for _, c := range r.Gaps {
		if c.Node == "" {
			return fmt.Errorf("%s cannot be read: %s; nothing is repaired that cannot be seen", c.Table, c.Reason)
		}
	}
	api, ledger := repair.Revisions(r.View)
	if older(api, p.KubeRevision) || older(ledger, p.EtcdRevision) {
		return errors.New("the cluster is older than the plan: it was restored from a backup; plan again")
	}
	if p.Risk().Level() > repair.Risk(w.f.maxRisk).Level() {
		return fmt.Errorf("the plan is %s, and without --max-risk %s only what is %s is done", p.Risk(), p.Risk(), w.f.maxRisk)
	}
	if p.Undoes == "" && w.f.resume == "" {
		w.gone = p.Refresh(r.View, foundIn(r))
	}
	if len(p.Steps) == 0 {
		for _, r := range w.gone {
			w.g.field(w.g.Stdout, "left out", short(r.Finding)+": "+short(r.Why))
		}
		return errors.New("nothing of the plan is left to do")
	}
	return p.Valid()
}

// older tells that a revision is smaller than another that was seen before.
func older(now, before string) bool {
	n, err1 := strconv.ParseUint(now, 10, 64)
	b, err2 := strconv.ParseUint(before, 10, 64)
	return err1 == nil && err2 == nil && n < b
}

// foundIn tells whether a finding is there, whether or not it could be decided already.
func foundIn(r *audit.Report) func(string) bool {
	there := map[string]bool{}
	for _, fs := range [][]finding.Finding{r.Findings, r.Unconfirmed, r.Suppressed} {
		for i := range fs {
			there[fs[i].Key()] = true
			for _, k := range fs[i].Explains {
				there[k] = true
			}
		}
	}
	return func(k string) bool { return there[k] }
}

// budgetOf reads blocks=10/s,handles=100.
func budgetOf(flags []string) (execute.Budget, error) {
	b := execute.Default
	for _, s := range flags {
		k, v, ok := strings.Cut(strings.TrimSuffix(s, "/s"), "=")
		n, err := strconv.ParseFloat(v, 64)
		into := map[string]*float64{"blocks": &b.Blocks, "handles": &b.Handles, "others": &b.Others}[k]
		if !ok || err != nil || into == nil || !(n > 0 && n <= 1000) {
			return b, fmt.Errorf("--budget %s: want blocks=N, handles=N or others=N, writes in a second", s)
		}
		*into = n
	}
	return b, nil
}

// valid checks the flags that apply and undo share.
func (f *applyFlags) valid() error {
	switch {
	case !slices.Contains([]string{"none", "server"}, f.dryRun):
		return fmt.Errorf("--dry-run=%s: want none or server", f.dryRun)
	case repair.Risk(f.maxRisk).Level() > repair.Destructive.Level():
		return fmt.Errorf("--max-risk %s: want safe, disruptive or destructive", f.maxRisk)
	case !slices.Contains([]string{"disk", "cluster"}, f.journal):
		return fmt.Errorf("--journal %s: want disk or cluster", f.journal)
	}
	return nil
}

// carryOut runs the plan and shows what becomes of it.
func (w *applyRun) carryOut(ctx context.Context) error {
	p := w.plan
	w.headline()
	began := w.now()
	res, err := w.x.Run(ctx, p, w.past)
	w.summary(res)
	if err != nil {
		w.note(journal.EntirePlan, repair.Failed, err.Error())
		w.copyJournal(context.WithoutCancel(ctx))
		fmt.Fprintf(w.g.Stdout, "stopped   %s\n", line(err.Error()))
		if !w.x.DryRun {
			w.g.next(w.g.Stdout, "apply --resume %s", p.ID)
		}
		return exit(exitStopped)
	}
	if w.x.DryRun {
		fmt.Fprintf(w.g.Stdout, "dry run   nothing was written; %s\n", w.sent())
		return w.verdict(res, nil)
	}
	still, unseen := w.verify(ctx, res)
	w.note(journal.EntirePlan, repair.Done, "")
	w.copyJournal(ctx)
	w.closing(res, still, unseen, w.now().Sub(began).Round(time.Second))
	if err := w.verdict(res, still); err != nil || unseen == nil {
		return err
	}
	return exit(exitFindings)
}
