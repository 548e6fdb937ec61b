package cli

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
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
}

func (g *global) planCommand() *cobra.Command {
	var f planFlags
	c := &cobra.Command{
		Use:   "plan [FINDING...] | --rebuild [CIDR...]",
		Short: "Plan the repair of findings; changes nothing",
		Long: "Checks the cluster and plans the repair of all confirmed findings, or of the\n" +
			"named ones. A plan lists the objects it changes, what the agents verify before\n" +
			"each write, the risk, and whether it can be undone. plan itself changes nothing.\n\n" +
			"Exit code: 0 there is a plan, or nothing to repair; 1 everything was refused;\n" +
			"2 could not read the cluster.",
		Example: fmt.Sprintf("  %[1]s plan\n  %[1]s plan PL2001/shop/db-0 --save plan.yaml\n  %[1]s plan --code PL1001,PL1006 -o wide\n  %[1]s plan --rebuild 10.244.8.0/26", g.prog),
		RunE:    func(cmd *cobra.Command, args []string) error { return g.runPlan(cmd.Context(), args, f) },
	}
	l := c.Flags()
	l.StringSliceVar(&f.codes, "code", nil, "only findings of these codes")
	l.StringVar(&f.node, "node", "", "only findings about this node")
	l.StringVarP(&f.namespace, "namespace", "n", "", "only findings about this namespace")
	l.BoolVar(&f.rebuild, "rebuild", false, "rebuild IPAM blocks from running pods: all, or the named blocks")
	l.StringVar(&f.save, "save", "", "write the plan to this file, for apply -f")
	l.StringVarP(&f.output, "output", "o", "text", "text, wide, yaml or json")
	l.DurationVar(&f.settle, "settle", 0, "how long a difference must persist to be confirmed, instead of the time of its kind")
	removeFlag(l, "mass", "allow-mass-change")
	l.BoolVar(&f.allowMassChange, "allow-mass-change", false, "plan although the number of findings exceeds the mass-change limit")
	l.StringSliceVar(&f.nodeGone, "node-gone", nil, "node permanently removed; treat its pods as gone")
	return c
}

func (g *global) runPlan(ctx context.Context, args []string, f planFlags) error {
	if !slices.Contains([]string{"text", "wide", "yaml", "json"}, f.output) {
		return fmt.Errorf("-o %s: want text, wide, yaml or json", f.output)
	}
	if g.bundle != "" {
		return errors.New("--bundle: not with plan: the agents verify a plan on the live cluster")
	}
	keys, blocks, err := planArgs(args, f.rebuild)
	if err != nil {
		return err
	}
	for _, code := range f.codes {
		if detect.ByCode(finding.Code(strings.ToUpper(code))) == nil {
			return fmt.Errorf("--code %s: no such code", code)
		}
	}
	if st, err := os.Stat(f.save); err == nil && st.IsDir() {
		return fmt.Errorf("--save %s: is a directory", f.save)
	}
	c, done, err := g.open(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	// All is checked, and what is asked for is chosen afterwards: which finding explains which
	// is known only of all together.
	r, err := c.Check(ctx, audit.Options{Settle: f.settle})
	done()
	if err != nil {
		return err
	}
	if f.rebuild && f.node != "" && len(blocks) == 0 {
		if blocks = blocksOf(r.View, f.node); len(blocks) == 0 {
			return fmt.Errorf("--node %s: no block belongs to it", f.node)
		}
		f.node = "" // the blocks say it; who has addresses of them may be elsewhere
	}
	chosen, missing := choose(r, keys, blocks, f)
	p := c.Plan(ctx, r, chosen, cluster.PlanOptions{
		ID: newPlanID(), Rebuild: f.rebuild, Blocks: blocks, Settle: f.settle, AllowMassChange: f.allowMassChange, NodeGone: f.nodeGone,
	})
	p.Refused = append(p.Refused, missing...)
	if f.save != "" {
		if err := cluster.SavePlan(f.save, p); err != nil {
			return err
		}
	}
	if err := g.showPlan(p, f); err != nil {
		return err
	}
	if len(p.Steps) == 0 && len(p.Refused) > 0 {
		return exit(exitFindings)
	}
	return nil
}

// planArgs reads what is named: findings, or blocks to rebuild.
func planArgs(args []string, rebuild bool) (keys []string, blocks []netip.Prefix, err error) {
	for _, a := range args {
		if !rebuild {
			key, ok := finding.ParseKey(a)
			if !ok || !codeOK.MatchString(string(key.Code)) {
				return nil, nil, fmt.Errorf("%q is not a finding: pass one as check shows it, such as PL2001/shop/db-0", a)
			}
			keys = append(keys, finding.KeyOf(finding.Code(strings.ToUpper(string(key.Code))), key.Name))
			continue
		}
		p, err := netip.ParsePrefix(a)
		if err != nil {
			return nil, nil, fmt.Errorf("--rebuild: %q is not a block: pass its CIDR, such as 10.244.8.0/26", a)
		}
		blocks = append(blocks, p.Masked())
	}
	return keys, blocks, nil
}

// choose gives the findings that are asked for, and says why one that is named is none.
func choose(r *audit.Report, keys []string, blocks []netip.Prefix, f planFlags) (chosen []finding.Finding, missing []repair.Refusal) {
	all := slices.Concat(r.Findings, r.Unconfirmed)
	heads := map[string]string{}
	there := map[string]bool{}
	for i := range all {
		there[all[i].Key()] = true
		for _, k := range all[i].Explains {
			heads[k] = all[i].Key()
		}
	}
	for i := range all {
		x := &all[i]
		if len(keys) > 0 && !slices.Contains(keys, x.Key()) ||
			len(f.codes) > 0 && !slices.ContainsFunc(f.codes, func(c string) bool { return strings.EqualFold(c, string(x.Code)) }) ||
			f.node != "" && x.Node != f.node || f.namespace != "" && !inNamespace(x, f.namespace) {
			continue
		}
		if x.Severity == finding.Info && len(keys) == 0 || f.rebuild && !ofIPAM(x, blocks) {
			continue // nothing is wrong, or not with these blocks
		}
		chosen = append(chosen, *x)
	}
	// What others explain is repaired with them, where their repair does not do it.
	for i := range r.Folded {
		x := r.Folded[i]
		head := heads[x.Key()]
		switch {
		case slices.ContainsFunc(chosen, func(c finding.Finding) bool { return c.Key() == head }), f.rebuild && ofIPAM(&x, blocks):
			chosen = append(chosen, x)
		case len(f.codes) > 0 && slices.ContainsFunc(f.codes, func(c string) bool { return strings.EqualFold(c, string(x.Code)) }):
			missing = append(missing, repair.Refusal{Finding: x.Key(), Why: "it is explained by " + head, Advice: "plan " + head})
		}
	}
	for _, k := range keys {
		switch head := heads[k]; {
		case there[k]:
		case head != "":
			missing = append(missing, repair.Refusal{Finding: k, Why: "it is explained by " + head, Advice: "plan " + head})
		default:
			missing = append(missing, repair.Refusal{Finding: k, Why: "it is not present in the current check"})
		}
	}
	return chosen, missing
}

// ofIPAM tells that a finding is about what blocks and handles say, of these blocks if any
// are named.
func ofIPAM(x *finding.Finding, blocks []netip.Prefix) bool {
	if !slices.Contains([]finding.Code{finding.PL1001, finding.PL1002, finding.PL1003, finding.PL1004, finding.PL1006, finding.PL1008}, x.Code) {
		return false
	}
	if len(blocks) == 0 {
		return true
	}
	for _, r := range append(slices.Clone(x.About), x.Subject) {
		ip, err := netip.ParseAddr(r.Name)
		for _, b := range blocks {
			if err == nil && b.Contains(ip) || r.Kind == model.KindBlock && r.Name == b.String() {
				return true
			}
		}
	}
	return false
}

// blocksOf are those that belong to a node.
func blocksOf(v *model.View, node string) []netip.Prefix {
	var out []netip.Prefix
	for i := range int32(v.Rows(model.Blocks)) {
		if b := v.Block(i); b.Node() != "" && v.SameNode(b.Node(), node) {
			out = append(out, b.CIDR)
		}
	}
	return out
}

func newPlanID() string {
	b := make([]byte, 3)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}
