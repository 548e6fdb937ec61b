package repair

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/plain"
	"plumbline.dev/plumbline/internal/repair"
)

// exitStopped means that a plan was begun and did not come to its end.
const exitStopped term.Exit = 4

// ApplyCommand is the command apply.
func ApplyCommand(sess *term.Session) *cobra.Command {
	var f applyFlags
	c := &cobra.Command{
		Use:   "apply -f FILE | --resume PLAN",
		Short: "Carry out a plan, one atomic update after the other",
		Long: "Checks the cluster again and carries out, step by step, what is still as the\n" +
			"plan says. Before each write apply reads the object live and compares it, and\n" +
			"the agents verify that nothing in use is changed; what they cannot verify is\n" +
			"skipped. Each write is in the journal on disk before it is done: --resume\n" +
			"continues after a crash, undo reverts the plan.\n\n" +
			"Only one apply runs per cluster at a time. To stop it within seconds:\n" +
			"  kubectl -n kube-system create configmap plumbline-stop\n\n" +
			"Exit code: 0 everything is repaired; 1 something was skipped or is still found,\n" +
			"or a pod does not work yet; 2 could not start; 4 stopped before the end.",
		Example: fmt.Sprintf("  %[1]s apply -f plan.yaml --dry-run=server\n  %[1]s apply -f plan.yaml\n  %[1]s apply -f plan.yaml --max-risk disruptive\n  %[1]s apply --resume 7f3a1c", sess.Program),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("pass the plan with -f: apply -f %s", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return runApply(cmd.Context(), sess, f) },
	}
	l := c.Flags()
	l.StringVarP(&f.file, "filename", "f", "", "plan file written by plan --save; - is stdin")
	l.StringVar(&f.resume, "resume", "", "continue this interrupted plan")
	f.bind(c)
	return c
}

func runApply(ctx context.Context, sess *term.Session, f applyFlags) error {
	switch {
	case f.file == "" && f.resume == "":
		return errors.New("pass a plan with -f FILE, or --resume PLAN")
	case f.file != "" && f.resume != "":
		return errors.New("pass either -f FILE or --resume PLAN, not both")
	}
	if sess.Bundle != "" {
		return errors.New("--bundle: not with apply: a plan is applied to a cluster")
	}
	var p *repair.Plan
	if f.file != "" { // before anybody is kept waiting by our lease
		var err error
		if p, err = cluster.ReadPlan(f.file, sess.Stdin); err != nil {
			return err
		}
	}
	w, err := beginRun(ctx, sess, f)
	if err != nil {
		return err
	}
	defer w.Close()
	if w.Plan = p; f.resume != "" {
		if err := w.Resume(ctx, f.resume); err != nil {
			return err
		}
	}
	if err := w.fits(ctx); errors.Is(err, cluster.ErrAllGone) {
		fmt.Fprintf(sess.Stdout, "Nothing to do: %s.\n", err)
		return nil
	} else if err != nil {
		return err
	}
	if f.resume == "" {
		if err := w.Create(); err != nil {
			return err
		}
	}
	return w.carryOut(ctx)
}

// An applyRun is a run of apply or undo as a person follows it.
type applyRun struct {
	*cluster.Run
	sess   *term.Session
	f      applyFlags
	budget cluster.Budget
	meter  term.StepMeter
}

// beginRun opens the cluster for writing.
func beginRun(ctx context.Context, sess *term.Session, f applyFlags) (*applyRun, error) {
	if err := f.valid(); err != nil {
		return nil, err
	}
	budget, err := budgetOf(f.budget)
	if err != nil {
		return nil, err
	}
	w := &applyRun{sess: sess, f: f, budget: budget}
	o, done := sess.Options()
	defer done()
	w.Run, err = cluster.OpenRun(ctx, o, cluster.RunOptions{
		DryRun: f.dryRun == "server", MaxRisk: cluster.Risk(f.maxRisk), Budget: budget, Copy: f.journal == "cluster", Holder: holder(sess), AcceptVersion: f.acceptVersion, Progress: w.progress,
	})
	return w, err
}

// holder names this process in the lease, for whoever finds it taken.
func holder(sess *term.Session) string {
	host, _ := os.Hostname()
	return fmt.Sprintf("%s@%s (process %d)", cmp.Or(sess.Getenv("USER"), "somebody"), host, os.Getpid())
}

// fits checks the plan against the cluster as it is; if nothing of it is left, it says what was
// skipped.
func (w *applyRun) fits(ctx context.Context) error {
	err := w.Fits(ctx, w.f.resume != "")
	if errors.Is(err, cluster.ErrNothingLeft) {
		w.skipped()
	}
	return err
}

func (w *applyRun) dryRun() bool { return w.f.dryRun == "server" }

// carryOut runs the plan and shows what becomes of it.
func (w *applyRun) carryOut(ctx context.Context) error {
	w.headline()
	w.meter = w.sess.StepMeter("step")
	res, took, err := w.Execute(ctx)
	w.meter.Clear()
	w.summary(res)
	if err != nil {
		fmt.Fprintf(w.sess.Stdout, "stopped   %s\n", plain.Line(err.Error()))
		if !w.dryRun() {
			w.sess.Next("apply --resume %s", w.Plan.ID)
		}
		return exitStopped
	}
	if w.dryRun() {
		fmt.Fprintf(w.sess.Stdout, "dry run   nothing was written; %s\n", w.sent())
		return w.verdict(res, cluster.Verification{})
	}
	v := w.Verify(ctx, res, w.waiting)
	w.closing(res, v, took)
	if err := w.verdict(res, v); err != nil || v.Unread == nil {
		return err
	}
	return term.ExitFindings
}
