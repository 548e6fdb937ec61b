package repair

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/plain"
	"plumbline.dev/plumbline/internal/repair"
)

// HistoryCommand is the command history.
func HistoryCommand(sess *term.Session) *cobra.Command {
	return &cobra.Command{
		Use:     "history [PLAN]",
		Short:   "List the plans that were applied from this machine, with their outcome",
		Example: fmt.Sprintf("  %[1]s history\n  %[1]s history 7f3a1c", sess.Program),
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				return historyOf(cmd.Context(), sess, args[0])
			}
			return runHistory(cmd.Context(), sess)
		},
	}
}

// openWithState opens the cluster, if there is a place where its journals are.
func openWithState(ctx context.Context, sess *term.Session) (*cluster.Cluster, func(), error) {
	if sess.Bundle != "" {
		return nil, nil, errors.New("--bundle: not with history: plans are applied to a cluster")
	}
	if _, err := sess.StateDir(); err != nil {
		return nil, nil, err
	}
	return sess.Open(ctx)
}

func runHistory(ctx context.Context, sess *term.Session) error {
	c, done, err := openWithState(ctx, sess)
	if err != nil {
		return err
	}
	defer c.Close()
	all, err := c.History(ctx)
	done()
	if err != nil {
		return err
	}
	if len(all) == 0 {
		fmt.Fprintln(sess.Stdout, "No plan was applied to this cluster from this machine.")
		return nil
	}
	rows := [][]string{{"PLAN", "MADE", "STATE", "RISK", "STEPS", "WHAT"}}
	for _, s := range all {
		made := "-"
		if !s.Made.IsZero() {
			made = plain.Stamp(s.Made.UTC())
		}
		what := strings.Join(s.Targets[:min(2, len(s.Targets))], ", ")
		if n := len(s.Targets) - 2; n > 0 {
			what += fmt.Sprintf(" and %s more", plain.Thousands(n))
		}
		if s.Why != "" {
			what = s.Why
		}
		rows = append(rows, []string{s.Plan, made, string(s.State), string(s.Risk), fmt.Sprintf("%d/%d", s.Tried, s.Steps), plain.ShortIDs(what)})
	}
	sess.PrintTable(sess.Width(), rows)
	return nil
}

func historyOf(ctx context.Context, sess *term.Session, id string) error {
	c, done, err := openWithState(ctx, sess)
	if err != nil {
		return err
	}
	defer c.Close()
	p, es, err := c.HistoryOf(ctx, id)
	done()
	if err != nil && p == nil {
		return err
	}
	rows := [][]string{{"TIME", "STEP", "OUTCOME", "ON"}}
	for _, e := range es {
		on := "the plan"
		for i := range p.Steps {
			if p.Steps[i].ID == e.Step && !e.Undo {
				on = string(p.Steps[i].On.Kind) + " " + p.Steps[i].On.Name
			}
		}
		if e.Undo {
			on = "undone"
		}
		if e.Why != "" {
			on += ": " + e.Why
		}
		if e.Outcome == repair.Intent {
			continue // what came of it follows
		}
		rows = append(rows, []string{clock(e.At), stepText(e.Step), string(e.Outcome), plain.ShortIDs(on)})
	}
	sess.PrintTable(sess.Width(), rows)
	sess.Next("undo %s --dry-run=server", id)
	return err
}

func clock(t model.Time) string { return plain.Stamp(t.Time().UTC()) }

func stepText(n int) string {
	if n <= 0 {
		return "-"
	}
	return fmt.Sprint(n)
}
