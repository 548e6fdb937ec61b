package repair

import (
	"cmp"
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
	var output string
	c := &cobra.Command{
		Use:     "history [PLAN]",
		Short:   "List the plans that were applied from this machine, with their outcome",
		Example: fmt.Sprintf("  %[1]s history\n  %[1]s history 7f3a1c", sess.Program),
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				return historyOf(cmd.Context(), sess, args[0], output)
			}
			return runHistory(cmd.Context(), sess, output)
		},
	}
	term.OutputFlag(c.Flags(), &output, "text", "json", "name")
	return c
}

// A history is what history -o json prints.
type history struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Plans      []cluster.Applied `json:"plans"`
}

// A planHistory is what history PLAN -o json prints.
type planHistory struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Plan       string         `json:"plan"` // its ID
	Entries    []repair.Entry `json:"entries"`
	Broken     string         `json:"broken,omitempty"` // why the journal could not be read to its end
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

func runHistory(ctx context.Context, sess *term.Session, output string) error {
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
	return showHistory(sess, all, output)
}

func showHistory(sess *term.Session, all []cluster.Applied, output string) error {
	switch {
	case term.IsDocument(output):
		return sess.PrintDocument(history{cluster.APIVersion, "History", term.NotNil(all)}, output)
	case output == "name":
		term.PrintNames(sess, all, func(a *cluster.Applied) string { return a.Plan })
		return nil
	case len(all) == 0:
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

func historyOf(ctx context.Context, sess *term.Session, id, output string) error {
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
	return showPlanHistory(sess, id, p, es, err, output)
}

// showPlanHistory shows the journal of a plan as far as it could be read; broken says why no further.
func showPlanHistory(sess *term.Session, id string, p *repair.Plan, es []repair.Entry, broken error, output string) error {
	if output != "text" {
		if output == "name" {
			fmt.Fprintln(sess.Stdout, plain.Line(id))
			return broken
		}
		doc := planHistory{APIVersion: cluster.APIVersion, Kind: "PlanHistory", Plan: id, Entries: term.NotNil(es)}
		if broken != nil {
			doc.Broken = broken.Error()
		}
		return cmp.Or(sess.PrintDocument(doc, output), broken)
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
	if undoable(p) {
		sess.Next("undo %s --dry-run=server", id)
	}
	return broken
}

func clock(t model.Time) string { return plain.Stamp(t.Time().UTC()) }

func stepText(n int) string {
	if n <= 0 {
		return "-"
	}
	return fmt.Sprint(n)
}
