package repair

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"plumbline.dev/plumbline/internal/cli/term"
)

// UndoCommand is the command undo.
func UndoCommand(sess *term.Session) *cobra.Command {
	var f applyFlags
	c := &cobra.Command{
		Use:   "undo PLAN",
		Short: "Undo what a plan changed, as far as that is safe",
		Long: "undo makes new writes for the cluster as it is now, each verified by the agents;\n" +
			"it never restores old content. What a running pod uses is not changed. What\n" +
			"cannot be undone is listed with the reason.\n\n" +
			"Exit code: 0 everything is undone; 1 something is not; 2 could not start; 4\n" +
			"stopped before the end.",
		Example: fmt.Sprintf("  %[1]s undo 7f3a1c --dry-run=server\n  %[1]s undo 7f3a1c", sess.Program),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("pass one plan; %s history lists them", sess.Program)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return runUndo(cmd.Context(), sess, args[0], f) },
	}
	f.bind(c)
	c.Flags().StringVar(&f.acceptVersion, "accept-version", "", "`reason` to undo on a Calico version on which repair is not tested")
	return c
}

func runUndo(ctx context.Context, sess *term.Session, id string, f applyFlags) error {
	if sess.Bundle != "" {
		return errors.New("--bundle: not with undo: a plan is undone in a cluster")
	}
	w, err := beginRun(ctx, sess, f)
	if err != nil {
		return err
	}
	defer w.Close()
	if err := w.Undo(ctx, id); err != nil {
		return err
	}
	refused(sess, w.Plan.Refused, false)
	if len(w.Plan.Steps) == 0 {
		fmt.Fprintln(sess.Stdout, "Nothing can be undone.")
		return term.ExitFindings
	}
	if err := w.fits(ctx); err != nil {
		return err
	}
	if err := w.TakeUp(); err != nil {
		return err
	}
	err = w.carryOut(ctx)
	if err == nil {
		w.Undone(id)
	}
	return err
}
