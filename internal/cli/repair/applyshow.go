package repair

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/plain"
	"plumbline.dev/plumbline/internal/repair"
)

// headline says what begins, and what fell away since the plan was made.
func (w *applyRun) headline() {
	p := w.Plan
	dry := ""
	if w.dryRun() {
		dry = "   DRY RUN"
	}
	fmt.Fprintf(w.sess.Stdout, "Plan %s  risk %s <= --max-risk %s   budget %g block writes/s%s\n", p.ID, p.Risk(), w.f.maxRisk, w.budget.Blocks, dry)
	ofVersion(w.sess, p)
	w.skipped()
}

// skipped tells what fell away since the plan was made.
func (w *applyRun) skipped() {
	for _, r := range w.Skipped {
		field(w.sess, "skipped", plain.Line(plain.ShortIDs(r.Finding))+": "+plain.Line(plain.ShortIDs(r.Why)))
	}
}

// progress shows a step when it is done. Of many, only those that did not go as planned.
func (w *applyRun) progress(p cluster.Progress) {
	if p.Of > maxListed && (p.Outcome == repair.Done || p.Outcome == repair.Already) && !p.Undo {
		w.meter.Tell(p.N, p.Of)
		if w.sess.Verbose {
			fmt.Fprintf(w.sess.Stderr, "step %d of %d: %s %s\n", p.N, p.Of, p.Step.On, p.Outcome)
		}
		return
	}
	w.meter.Clear()
	mark := ""
	if p.Undo {
		mark = "undo "
	}
	text := fmt.Sprintf("%s%*d/%d %-9s %-9s %s", mark, len(fmt.Sprint(p.Of))+1, p.N, p.Of, p.Step.On.Kind, w.word(p.Outcome), plain.ShortIDs(p.Step.On.Name))
	w.sess.PrintLines(w.sess.Width(), text)
	if p.Why != "" {
		w.sess.PrintLabelled(w.sess.Width(), "      ", plain.ShortIDs(p.Why))
	}
}

// word is what an outcome is called: a dry run does nothing.
func (w *applyRun) word(o repair.Outcome) string {
	if o == repair.Done && w.dryRun() {
		return "would do"
	}
	return string(o)
}

// summary tells how many steps ended how, where they were not listed.
func (w *applyRun) summary(res cluster.Result) {
	if len(w.Plan.Steps) <= maxListed {
		return
	}
	n := map[repair.Outcome]int{}
	for _, v := range res.Steps {
		n[v.Outcome]++
	}
	var parts []string
	for _, o := range []repair.Outcome{repair.Done, repair.Already, repair.Moved, repair.Refused, repair.Failed, repair.Unknown} {
		if n[o] > 0 {
			parts = append(parts, plain.Thousands(n[o])+" "+w.word(o))
		}
	}
	fmt.Fprintf(w.sess.Stdout, "steps     %s of %s\n", strings.Join(parts, ", "), plain.Thousands(len(w.Plan.Steps)))
}

// sent says what a dry run sends.
func (w *applyRun) sent() string {
	if w.Etcd() {
		return "the API server validated writes to pods (dryRun=All); etcd and nodes were only read"
	}
	return "the API server validated every write (dryRun=All); nodes were only read"
}

// closing says what is cured, what is not, where the journal is, and how to take it back.
func (w *applyRun) closing(res cluster.Result, v cluster.Verification, took time.Duration) {
	out := w.sess.Stdout
	cured, left := 0, map[string]string{}
	var watch int64
	for f, was := range res.Findings {
		switch {
		case slices.Contains(v.Still, f) && v.Unread == nil:
			left[f] = fmt.Sprintf("still found after %s", v.Waited.Round(time.Second))
		case was.Repaired():
			cured++
			if t := w.Plan.Target(f); t != nil {
				watch = max(watch, t.Watch)
			}
		default:
			left[f] = string(was.Outcome) + ": " + was.Why
		}
	}
	switch {
	case w.Plan.Undoes != "":
		fmt.Fprintf(out, "undone    as far as possible, in %s\n", took)
	case v.Unread != nil:
		fmt.Fprintf(out, "written   and not verified: %s\n", plain.Line(v.Unread.Error()))
	default:
		fmt.Fprintf(out, "verified  %s of %s, in %s\n", curedText(w.Plan, cured), plain.Count(len(w.Plan.Targets), "finding"), took)
	}
	w.left(left)
	w.also(v.Also)
	w.notYet(v.Broken)
	if watch > 0 {
		fmt.Fprintf(out, "watch     check again in %s: until then the IPAM garbage collector may act on what it read before\n", time.Duration(watch)*time.Second)
	}
	fmt.Fprintf(out, "journal   %s\n", w.JournalPath())
	if undoable(w.Plan) {
		fmt.Fprintf(out, "undo with %s undo %s\n", w.sess.Program, w.Plan.ID)
	}
	w.next(v)
}

// notYet says that pods of the plan do not work yet: its findings may have hidden what else is wrong with them.
func (w *applyRun) notYet(broken []finding.Finding) {
	if n := len(broken); n > 0 {
		field(w.sess, "not yet", fmt.Sprintf("%s about the same pods, which the plan does not repair: they may not be reachable", plain.Count(n, "error")))
	}
}

// next says what to do about that.
func (w *applyRun) next(v cluster.Verification) {
	i := slices.IndexFunc(v.Broken, func(f finding.Finding) bool { return f.State == finding.Confirmed })
	switch {
	case i >= 0:
		w.sess.Next("plan %s --save FILE", plain.Quoted(v.Broken[i].Key()))
	case len(v.Broken) > 0:
		w.sess.Next("check --wait")
	default:
		w.sess.Next("check")
	}
}

// waiting tells that Calico has not followed yet, or that something could not be read.
func (w *applyRun) waiting(v cluster.Verification) {
	switch {
	case !w.sess.Interactive() && !w.sess.Verbose:
	case v.Unread != nil:
		fmt.Fprintf(w.sess.Stderr, "waiting: %s\n", plain.Line(v.Unread.Error()))
	case len(v.Still) == 0:
		fmt.Fprintf(w.sess.Stderr, "waiting for Calico: %s about the same pods\n", plain.Count(len(v.Broken), "other error"))
	default:
		fmt.Fprintf(w.sess.Stderr, "waiting for Calico: %s still found\n", plain.Count(len(v.Still), "finding"))
	}
}

// also names what else is found about the same pods: they may not work yet.
func (w *applyRun) also(fs []finding.Finding) {
	for i, f := range fs {
		if i == 10 {
			fmt.Fprintf(w.sess.Stdout, "also       ... %d more about the same pods\n", len(fs)-i)
			return
		}
		text := plain.ShortIDs(f.Key()) + ": " + plain.ShortIDs(f.Summary)
		if f.State != finding.Confirmed {
			text += " (unconfirmed)"
		}
		field(w.sess, "also", text)
	}
}

// left names what was not repaired, and why.
func (w *applyRun) left(why map[string]string) {
	for i, f := range slices.Sorted(maps.Keys(why)) {
		if i == 10 {
			fmt.Fprintf(w.sess.Stdout, "remains    ... %d more\n", len(why)-i)
			return
		}
		field(w.sess, "remains", plain.ShortIDs(f)+": "+plain.ShortIDs(why[f]))
	}
}

func curedText(p *repair.Plan, n int) string {
	if n == 1 && len(p.Targets) == 1 {
		return plain.Line(p.Targets[0].Finding) + " is gone: 1"
	}
	return plain.Thousands(n) + " are gone"
}

// verdict is the exit code: something was left alone, or is still there, or a pod does not work yet.
func (w *applyRun) verdict(res cluster.Result, v cluster.Verification) error {
	if len(v.Still) > 0 || len(v.Broken) > 0 || w.LeftOut() {
		return term.ExitFindings
	}
	for _, v := range res.Findings {
		if !v.Repaired() {
			return term.ExitFindings
		}
	}
	return nil
}
