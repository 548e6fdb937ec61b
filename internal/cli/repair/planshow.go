package repair

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/plain"
	"plumbline.dev/plumbline/internal/repair"
)

// showPlan prints a plan as it was asked for.
func showPlan(sess *term.Session, p *repair.Plan, f planFlags) error {
	if term.IsDocument(f.output) {
		return sess.PrintDocument(cluster.DocumentOf(p), f.output)
	}
	if f.output == "name" {
		term.PrintNames(sess, p.Targets, func(t *repair.Target) string { return t.Finding })
		return nil
	}
	w := sess.Stdout
	if len(p.Steps) == 0 {
		fmt.Fprintln(w, emptyPlan(p))
		refused(sess, p.Refused, f.output == "wide")
		if f.save != "" {
			fmt.Fprintf(w, "%s is not written: there is nothing to apply.\n", f.save)
		}
		return nil
	}
	fmt.Fprintf(w, "Plan %s: %s, %s, risk %s, undo: %s\n", p.ID, targetsText(p), plain.Count(len(p.Steps), "step"), p.Risk(), undoText(p))
	if f.output == "wide" || len(p.Steps) <= maxListed {
		listSteps(sess, p)
	} else {
		groupSteps(sess, p)
	}
	ofVersion(sess, p)
	reliesOn(sess, p)
	touches(sess, p)
	evidenceFirst(sess, p)
	refused(sess, p.Refused, f.output == "wide")
	if b := cluster.DefaultBudget; p.Takes(b.Blocks, b.Handles, b.Others) > 10*time.Second {
		fmt.Fprintf(w, "Time       at least %s, by the budget of writes per second (apply --budget)\n", p.Takes(b.Blocks, b.Handles, b.Others).Round(time.Second))
	}
	if sess.Bundle != "" {
		fmt.Fprintln(w, "Know       of the cluster as it was when the bundle was written; plan on the live cluster what is to be applied")
		return nil
	}
	if f.save == "" {
		args := []string{"plan"}
		if len(sess.Args) > 2 {
			args = sess.Args[1:]
		}
		sess.Next("%s --save plan.yaml", plain.Line(strings.Join(args, " ")))
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

// ofVersion says what there is to know of Calico's version.
func ofVersion(sess *term.Session, p *repair.Plan) {
	for _, w := range p.Warnings {
		sess.PrintLabelled(sess.Width(), "Know       ", plain.Line(w))
	}
	if a := p.Accepted; a != nil {
		sess.PrintLabelled(sess.Width(), "Accepted   ", plain.Line(a.Version+": "+a.Reason))
	}
}

// maxListed is how many steps a person reads one by one.
const maxListed = 12

func emptyPlan(p *repair.Plan) string {
	switch {
	case len(p.Refused) == 0:
		return "Nothing to repair."
	case !slices.ContainsFunc(p.Refused, func(r repair.Refusal) bool { return r.Why != repair.NotPresent }):
		return "No plan: what is asked for is not there."
	}
	return "No plan: everything was refused."
}

func targetsText(p *repair.Plan) string {
	if len(p.Targets) == 1 {
		return plain.Line(p.Targets[0].Finding)
	}
	return plain.Count(len(p.Targets), "finding")
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
		return fmt.Sprintf("all but %s", plain.Thousands(not))
	}
}

func undoable(p *repair.Plan) bool { return p.Undoes == "" && undoText(p) != "none" }

func listSteps(sess *term.Session, p *repair.Plan) {
	for i := range p.Steps {
		s := &p.Steps[i]
		text := fmt.Sprintf("%2d %-9s %s", s.ID, s.On.Kind, plain.ShortIDs(s.On.Name))
		sess.PrintLines(sess.Width(), text)
		sess.PrintLabelled(sess.Width(), "             ", plain.ShortIDs(s.Describe()))
	}
}

// groupSteps shows how often each kind of step is in the plan.
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
		fmt.Fprintf(sess.Stdout, "%7s %-9s %s\n", plain.Thousands(count[k]), k.kind, plain.Line(k.do))
	}
	fmt.Fprintln(sess.Stdout, "           (-o wide lists every step)")
}

// evidenceFirst says how to save what a plan takes away, before it does.
func evidenceFirst(sess *term.Session, p *repair.Plan) {
	if sess.Bundle != "" {
		return
	}
	const few = 3
	var pods []string
	for i := range p.Steps {
		switch on, do := p.Steps[i].On, p.Steps[i].Do; on.Kind {
		case model.KindPod:
			if do == "evict" || do == "restart" {
				pods = append(pods, on.Name)
			}
		case model.KindSandbox, model.KindLink, model.KindMount:
			sess.PrintLabelled(sess.Width(), "Evidence   ", fmt.Sprintf("save it before it is removed: %s collect --save evidence.tar.gz", sess.Program))
			return
		default:
		}
	}
	for i, pod := range pods[:min(len(pods), few)] {
		ns, name, _ := strings.Cut(pod, "/")
		file := "evidence.tar.gz"
		if i > 0 {
			file = fmt.Sprintf("evidence%d.tar.gz", i+1)
		}
		sess.PrintLabelled(sess.Width(), "Evidence   ", fmt.Sprintf("save it before the pod is evicted: %s collect pod %s -n %s --save %s", sess.Program, plain.Quoted(name), plain.Quoted(ns), file))
	}
	if n := len(pods) - few; n > 0 {
		sess.PrintLabelled(sess.Width(), "Evidence   ", fmt.Sprintf("and of %s more", plain.Count(n, "pod")))
	}
}
