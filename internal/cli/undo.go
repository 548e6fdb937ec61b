package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"plumbline.dev/plumbline/internal/journal"
	"plumbline.dev/plumbline/internal/kube"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
	"plumbline.dev/plumbline/internal/repair"
)

func (g *global) undoCommand() *cobra.Command {
	var f applyFlags
	c := &cobra.Command{
		Use:   "undo PLAN",
		Short: "Take back what a plan has changed, as far as that is safe",
		Long: "Undo is compensation: new writes in the world as it is now, with proofs of\n" +
			"their own, never the old content put back. What a living pod uses is not taken\n" +
			"from it, and what cannot be taken back is named, with the reason.\n\n" +
			"Exit code: 0 all is taken back; 1 something was not; 2 could not begin; 4 was\n" +
			"stopped half way.",
		Example: fmt.Sprintf("  %[1]s undo 7f3a1c --dry-run=server\n  %[1]s undo 7f3a1c", g.prog),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("name one plan; %s history lists them", g.prog)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return g.runUndo(cmd.Context(), args[0], f) },
	}
	f.bind(c)
	return c
}

func (g *global) runUndo(ctx context.Context, id string, f applyFlags) error {
	if g.bundle != "" {
		return errors.New("a plan is undone in a cluster, not in a file")
	}
	w, err := g.beginWork(ctx, f)
	if err != nil {
		return err
	}
	defer w.close()
	p, es, err := w.pastOf(ctx, id)
	if err != nil {
		return err
	}
	w.plan = repair.Undo(p, es, "")
	w.plan.Made = model.At(w.now())
	g.refused(g.Stdout, w.plan.Refused, false)
	if len(w.plan.Steps) == 0 {
		fmt.Fprintln(g.Stdout, "Nothing that can be taken back.")
		return exit(exitFindings)
	}
	if err := w.fits(ctx); err != nil {
		return err
	}
	if err := w.takeUp(); err != nil {
		return err
	}
	err = w.carryOut(ctx)
	if err == nil {
		w.undone(id)
	}
	return err
}

// undone notes in the journal of a plan that it was taken back, as far as it could be.
func (w *applyRun) undone(id string) {
	if w.x.DryRun {
		return
	}
	j, err := journal.Open(w.state, w.plan.Cluster, id)
	if err == nil {
		err = errors.Join(j.Append(repair.Entry{At: model.At(w.now()), Step: journal.EntireUndo, Outcome: repair.Done}), j.Close())
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // the journal of another machine is not here
		fmt.Fprintf(w.g.Stderr, "the journal of %s does not say that it was undone: %v\n", id, err)
	}
}

// takeUp begins the journal of the undoing, or goes on with one that was interrupted. One
// that came to its end is another: the world has moved since.
func (w *applyRun) takeUp() error {
	base := w.plan.ID
	for n := 2; ; n++ {
		err := w.create()
		if !errors.Is(err, journal.ErrExists) {
			return err
		}
		j, err := journal.Open(w.state, w.plan.Cluster, w.plan.ID)
		if err != nil {
			return err
		}
		if journal.StateOf(j.Entries()) != journal.Finished {
			w.journal, w.plan, w.past = j, j.Plan(), j.Entries()
			return nil
		}
		if err := j.Close(); err != nil {
			return err
		}
		w.plan.ID = fmt.Sprintf("%s%d", base, n)
	}
}

// pastOf finds what was done by a plan: on this machine, or in the copy in the cluster.
func (w *applyRun) pastOf(ctx context.Context, id string) (*repair.Plan, []repair.Entry, error) {
	guid, err := w.c.guid(ctx)
	if err != nil {
		return nil, nil, err
	}
	p, es, err := journal.Read(w.state, guid, id)
	if err == nil {
		return p, es, nil
	}
	chunks, err2 := kube.JournalMaps{Writer: w.writer}.Read(ctx, id)
	if err2 != nil || len(chunks) == 0 {
		return nil, nil, errors.Join(fmt.Errorf("plan %s: %w", id, err), err2)
	}
	return journal.FromChunks(chunks)
}

// guid is the cluster's name for itself.
func (c *cluster) guid(ctx context.Context) (string, error) {
	s := observe.Snapshot(ctx, func(string, int, bool) {}, c.calicoSource.Config()...)
	if s.Meta.GUID == "" {
		return "", errors.New("the cluster does not say who it is: its ClusterInformation has no GUID")
	}
	return s.Meta.GUID, nil
}
