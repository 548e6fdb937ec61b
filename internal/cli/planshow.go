package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
)

// showPlan prints a plan as it was asked for.
func showPlan(sess *term.Session, p *repair.Plan, f planFlags) error {
	if f.output == "yaml" || f.output == "json" {
		b, err := json.MarshalIndent(cluster.DocumentOf(p), "", "  ")
		if f.output == "yaml" && err == nil {
			b, err = yaml.JSONToYAML(b)
		}
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(sess.Stdout, "%s\n", strings.TrimSuffix(string(b), "\n"))
		return err
	}
	w := sess.Stdout
	if len(p.Steps) == 0 {
		fmt.Fprintln(w, emptyPlan(p))
		refused(sess, p.Refused, f.output == "wide")
		return nil
	}
	fmt.Fprintf(w, "Plan %s: %s, %s, risk %s, undo: %s\n", p.ID, targetsText(p), term.Count(len(p.Steps), "step"), p.Risk(), undoText(p))
	if f.output == "wide" || len(p.Steps) <= maxListed {
		listSteps(sess, p)
	} else {
		groupSteps(sess, p)
	}
	reliesOn(sess, p)
	touches(sess, p)
	refused(sess, p.Refused, f.output == "wide")
	if d := p.Takes(cluster.DefaultBudget.Blocks, cluster.DefaultBudget.Handles); d > 10*time.Second {
		fmt.Fprintf(w, "Time       about %s at %g block writes per second\n", d.Round(time.Second), cluster.DefaultBudget.Blocks)
	}
	if f.save == "" {
		args := []string{"plan"}
		if len(sess.Args) > 2 {
			args = sess.Args[1:]
		}
		sess.Next("%s --save plan.yaml", term.Line(strings.Join(args, " ")))
		return nil
	}
	fmt.Fprintf(w, "Saved      %s\n", f.save)
	risk := ""
	if p.Risk().Level() > 0 { // above what apply allows without a flag
		risk = " --max-risk " + string(p.Risk())
	}
	sess.Next("apply -f %s%s", f.save, risk)
	return nil
}

// maxListed is how many steps a person reads one by one.
const maxListed = 12

func emptyPlan(p *repair.Plan) string {
	if len(p.Refused) == 0 {
		return "Nothing to repair."
	}
	return "No plan: everything was refused."
}

func targetsText(p *repair.Plan) string {
	if len(p.Targets) == 1 {
		return term.Line(p.Targets[0].Finding)
	}
	return term.Count(len(p.Targets), "finding")
}

func undoText(p *repair.Plan) string {
	not, lives := 0, 0
	for i := range p.Targets {
		if p.Targets[i].NoUndo != "" {
			not++
		} else if p.Targets[i].Proof.Running != nil {
			lives++
		}
	}
	if lives > 0 && not+lives == len(p.Targets) {
		return "not while the pod runs"
	}
	switch not {
	case 0:
		return "all"
	case len(p.Targets):
		return "none"
	default:
		return fmt.Sprintf("all but %s", term.Thousands(not))
	}
}

func listSteps(sess *term.Session, p *repair.Plan) {
	for i := range p.Steps {
		s := &p.Steps[i]
		text := fmt.Sprintf("%2d %-9s %s", s.ID, s.On.Kind, term.Line(term.ShortIDs(s.On.Name)))
		sess.PrintLines(sess.Width(), text)
		sess.PrintLabelled(sess.Width(), "             ", term.ShortIDs(s.Describe()))
	}
}

// groupSteps tells how often what is done: nobody reads a thousand lines.
func groupSteps(sess *term.Session, p *repair.Plan) {
	type group struct {
		kind model.Kind
		do   string
	}
	var order []group
	count := map[group]int{}
	for i := range p.Steps {
		k := group{p.Steps[i].On.Kind, p.Steps[i].Do}
		if count[k] == 0 {
			order = append(order, k)
		}
		count[k]++
	}
	for _, k := range order {
		fmt.Fprintf(sess.Stdout, "%7s %-9s %s\n", term.Thousands(count[k]), k.kind, term.Line(k.do))
	}
	fmt.Fprintln(sess.Stdout, "           (-o wide lists every step)")
}

// reliesOn names the nodes that must speak, and what for.
func reliesOn(sess *term.Session, p *repair.Plan) {
	nodes := map[string]bool{}
	all, dead, lives := false, 0, 0
	for i := range p.Targets {
		pr := p.Targets[i].Proof
		if pr.NotInUse != nil {
			dead++
			all = all || pr.NotInUse.All
			for _, n := range pr.NotInUse.Nodes {
				nodes[n] = true
			}
		}
		if pr.Running != nil {
			lives++
			nodes[pr.Running.Node] = true
		}
	}
	var parts []string
	if dead > 0 {
		parts = append(parts, fmt.Sprintf("nothing uses what is released (%d)", dead))
	}
	if lives > 0 {
		parts = append(parts, fmt.Sprintf("the pod that receives the record is running (%d)", lives))
	}
	if len(parts) == 0 {
		return
	}
	who := "the agents on " + strings.Join(some(nodes, 4), ", ")
	if len(nodes) == 1 {
		who = strings.Replace(who, "agents", "agent", 1)
	}
	switch {
	case all:
		who = "the agents on all nodes"
	case len(nodes) == 0:
		who = "the API server"
	}
	text := "live verification by " + who + " before each write: " + strings.Join(parts, "; ")
	field(sess, "Relies on", text)
}

func field(sess *term.Session, name, text string) {
	sess.PrintLabelled(sess.Width(), fmt.Sprintf("%-11s", name), text)
}

func touches(sess *term.Session, p *repair.Plan) {
	pods := map[string]bool{}
	var warnings []string
	for i := range p.Targets {
		for _, t := range p.Targets[i].Touches {
			pods[t] = true
		}
		for _, t := range p.Targets[i].Warnings {
			if !slices.Contains(warnings, t) {
				warnings = append(warnings, t)
			}
		}
	}
	if len(pods) == 0 {
		fmt.Fprintln(sess.Stdout, "Touches    no other pod")
	} else {
		field(sess, "Touches", strings.Join(some(pods, 10), ", "))
	}
	for i, t := range warnings {
		if i == 5 {
			fmt.Fprintf(sess.Stdout, "           ... %d more (-o yaml)\n", len(warnings)-i)
			break
		}
		field(sess, "Know", t)
	}
}

// refused says what is left alone; of many with one reason, one line.
func refused(sess *term.Session, rs []repair.Refusal, wide bool) {
	if len(rs) == 0 {
		return
	}
	why := map[string][]repair.Refusal{}
	var order []string
	for _, r := range rs {
		k := r.Why + "\x00" + r.Advice
		if wide {
			k += "\x00" + r.Finding
		}
		if why[k] == nil {
			order = append(order, k)
		}
		why[k] = append(why[k], r)
	}
	for _, k := range order {
		same := why[k]
		name := term.Line(term.ShortIDs(same[0].Finding))
		if len(same) > 1 {
			name = fmt.Sprintf("%s findings (%s ...)", term.Thousands(len(same)), name)
		}
		field(sess, "Refused", name+": "+term.ShortIDs(same[0].Why))
		if a := same[0].Advice; a != "" {
			field(sess, "", a)
		}
	}
}

// some names a few of a set.
func some(set map[string]bool, most int) []string {
	var out []string
	for k := range set {
		out = append(out, k)
	}
	slices.Sort(out)
	if len(out) > most {
		out = append(out[:most], fmt.Sprintf("%s more", term.Thousands(len(out)-most)))
	}
	return out
}
