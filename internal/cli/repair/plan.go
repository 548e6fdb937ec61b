// Package repair has the verbs that repair: plan, apply, undo and history. Of all verbs, only
// apply and undo change anything.
package repair

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/repair"
)

// planFlags say what to plan and how to show it.
type planFlags struct {
	codes           []string
	node            string
	namespace       string
	rebuild         bool
	save            string
	output          string
	settle          time.Duration
	allowMassChange bool
	nodeGone        []string
	acceptVersion   string
}

// PlanCommand is the command plan.
func PlanCommand(sess *term.Session) *cobra.Command {
	var f planFlags
	c := &cobra.Command{
		Use:   "plan [FINDING...] | --rebuild [CIDR...]",
		Short: "Plan the repair of findings; changes nothing",
		Long: "Checks the cluster and plans the repair of all confirmed findings, or of the\n" +
			"named ones. A plan lists the objects it changes, what the agents verify before\n" +
			"each write, the risk, and whether it can be undone. plan itself changes nothing.\n" +
			"With --bundle it shows the plan for the cluster as it was; it is not saved.\n\n" +
			"Exit code: 0 there is a plan, or nothing to repair; 1 everything was refused,\n" +
			"or there is nothing to repair and the file of --save keeps what was in it;\n" +
			"2 could not read the cluster.",
		Example: fmt.Sprintf("  %[1]s plan\n  %[1]s plan PL2001/shop/db-0 --save plan.yaml\n  %[1]s plan --code PL1001,PL1006 -o wide\n  %[1]s plan --rebuild 10.244.8.0/26", sess.Program),
		RunE:    func(cmd *cobra.Command, args []string) error { return runPlan(cmd.Context(), sess, args, f) },
	}
	l := c.Flags()
	l.StringSliceVar(&f.codes, "code", nil, "only findings of these codes")
	_ = c.RegisterFlagCompletionFunc("code", term.CompleteList(detect.Listed())) // the flag exists
	l.StringVar(&f.node, "node", "", "only findings about this node")
	l.StringVarP(&f.namespace, "namespace", "n", "", "only findings about this namespace")
	l.BoolVar(&f.rebuild, "rebuild", false, "rebuild IPAM blocks from running pods: all, or the named blocks")
	l.StringVar(&f.save, "save", "", "write the plan to this file, for apply -f")
	term.OutputFlag(l, &f.output, "text", "wide", "json", "name")
	l.DurationVar(&f.settle, "settle", 0, "how long a difference must persist to be confirmed, instead of the time of its kind")
	term.RemoveFlag(l, "mass", "allow-mass-change")
	l.BoolVar(&f.allowMassChange, "allow-mass-change", false, "plan although the number of findings exceeds the mass-change limit")
	l.StringSliceVar(&f.nodeGone, "node-gone", nil, "node permanently removed; treat its pods as gone")
	l.StringVar(&f.acceptVersion, "accept-version", "", "`reason` to repair a Calico version on which repair is not tested; it goes into plan and journal")
	return c
}

func runPlan(ctx context.Context, sess *term.Session, args []string, f planFlags) error {
	s, err := selectPlan(sess, args, f)
	if err != nil {
		return err
	}
	p, err := makePlan(ctx, sess, s)
	if err != nil {
		return err
	}
	if f.save != "" && len(p.Steps) > 0 { // a plan that was saved before is worth more than one of nothing
		if err := cluster.SavePlan(f.save, p); err != nil {
			return err
		}
	}
	if err := showPlan(sess, p, f); err != nil {
		return err
	}
	return planEnds(p, f.save)
}

// planEnds is the exit code: nobody goes on to apply what the file of --save had before.
func planEnds(p *repair.Plan, save string) error {
	if len(p.Steps) == 0 && (len(p.Refused) > 0 || exists(save)) {
		return term.ExitFindings
	}
	return nil
}

// exists tells that a file of that name, or anything else, is there.
func exists(file string) bool {
	_, err := os.Lstat(file)
	return file != "" && err == nil
}

// makePlan checks the cluster and plans what is selected.
func makePlan(ctx context.Context, sess *term.Session, s planSelection) (*repair.Plan, error) {
	// All is checked, and what is asked for is chosen afterwards: which finding explains which
	// is known only of all together.
	o := audit.Options{Settle: s.settle}
	if sess.Bundle != "" {
		r, err := sess.Check(ctx, o, "", "")
		if err != nil {
			return nil, err
		}
		return s.plan(sess, r, func(chosen []finding.Finding, o cluster.PlanOptions) *repair.Plan {
			return cluster.PlanOf(r, chosen, sess.Cluster.Version, o)
		})
	}
	c, done, err := sess.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	r, err := c.CheckSelected(ctx, o, s.namespace, "")
	done()
	if err != nil {
		return nil, err
	}
	return s.plan(sess, r, func(chosen []finding.Finding, o cluster.PlanOptions) *repair.Plan { return c.Plan(ctx, r, chosen, o) })
}

// plan chooses what is selected of a report and has it planned.
func (s planSelection) plan(sess *term.Session, r *audit.Report, planned func([]finding.Finding, cluster.PlanOptions) *repair.Plan) (*repair.Plan, error) {
	if s.rebuild && s.node != "" && len(s.blocks) == 0 {
		if s.blocks = blocksOf(r.View, s.node); len(s.blocks) == 0 {
			return nil, fmt.Errorf("--node %s: no block belongs to it", s.node)
		}
		s.node = "" // the blocks say it; who has addresses of them may be elsewhere
	}
	chosen, missing := s.choose(r)
	if err := cluster.UnknownNames(r.View, sess.Bundle != "", s.node, s.namespace, len(chosen)); err != nil {
		return nil, err
	}
	p := planned(chosen, cluster.PlanOptions{
		ID: newPlanID(), Rebuild: s.rebuild, Blocks: s.blocks, Settle: s.settle, AllowMassChange: s.allowMassChange, NodeGone: s.nodeGone, AcceptVersion: s.acceptVersion,
	})
	p.Refused = append(p.Refused, missing...)
	return p, nil
}

func newPlanID() string {
	b := make([]byte, 3)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}
