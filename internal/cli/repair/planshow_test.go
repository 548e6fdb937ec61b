package repair

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cli/term/termtest"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/change"
)

const anID = "247d3c78aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

// rescue is the plan that gives shop/db-0 its record back.
func rescue() *repair.Plan {
	p, err := cluster.ReadPlan("../../cluster/testdata/plan.yaml", nil)
	if err != nil {
		panic(err)
	}
	return p
}

// litter is a plan of hundreds of steps, with names of strangers in it.
func litter() *repair.Plan {
	p := &repair.Plan{Schema: repair.Schema, ID: "c81d", Cluster: "1f0c"}
	for i := range 612 {
		f := fmt.Sprintf("PL2002/xxx\x1b[31m/w3-k8s-old--%d-eth0", i)
		p.Targets = append(p.Targets, repair.Target{Finding: f, Risk: change.Safe, NoUndo: "there is no pod", Proof: change.Proof{NotInUse: &change.NotInUse{Containers: []string{anID}, Nodes: []string{fmt.Sprintf("w%d", i%31)}}}})
		p.Steps = append(p.Steps, repair.Step{ID: i + 1, Do: "delete", On: model.Ref{Kind: model.KindEndpoint, Name: f[7:]}, For: []string{f}, Change: &change.Endpoint{Container: anID}})
	}
	p.Targets[0].Risk, p.Targets[0].Touches = change.Disruptive, []string{"xxx/other has 10.0.0.1 as well"}
	return p
}

// TestPlanScreens keeps what a person sees of plans, and of their execution.
func TestPlanScreens(t *testing.T) {
	t.Parallel()
	for name, show := range map[string]func(sess *term.Session){
		"plan":        func(sess *term.Session) { _ = showPlan(sess, rescue(), planFlags{output: "text", save: "plan.yaml"}) },
		"plan-groups": func(sess *term.Session) { _ = showPlan(sess, litter(), planFlags{output: "text"}) },
		"plan-nothing": func(sess *term.Session) {
			_ = showPlan(sess, &repair.Plan{Refused: rescue().Refused}, planFlags{output: "text"})
			_ = showPlan(sess, &repair.Plan{}, planFlags{output: "text"})
		},
		"apply": func(sess *term.Session) {
			p := rescue()
			w := &applyRun{sess: sess, f: applyFlags{maxRisk: "safe"}, budget: cluster.DefaultBudget, Run: &cluster.Run{Plan: p, Skipped: []repair.Refusal{{Finding: "PL1001/10.0.0.1", Why: "it is not found any more"}}}}
			w.headline()
			for i := range p.Steps {
				w.progress(cluster.Progress{Step: &p.Steps[i], N: i + 1, Of: 4, Outcome: []repair.Outcome{repair.Done, repair.Already, repair.Refused, repair.Unknown}[i], Why: []string{"", "", "sandbox " + anID + " does not run on w17, as its own agent says after a fresh look", ""}[i]})
			}
			w.left(map[string]string{"PL2001/shop/db-0": "refused: sandbox " + anID + " does not run"})
		},
		"apply-dry": func(sess *term.Session) {
			p := rescue()
			w := &applyRun{sess: sess, f: applyFlags{maxRisk: "safe", dryRun: "server"}, budget: cluster.DefaultBudget, Run: &cluster.Run{Plan: p}}
			w.headline()
			w.progress(cluster.Progress{Step: &p.Steps[0], N: 1, Of: 4, Outcome: repair.Done})
			w.progress(cluster.Progress{Step: &p.Steps[1], N: 2, Of: 4, Outcome: repair.Already})
		},
		"history-plan": func(sess *term.Session) { // undo is offered where something can be undone
			es := []repair.Entry{{At: 1_800_000_000, Step: 1, Outcome: repair.Intent}, {At: 1_800_000_001, Step: 1, Outcome: repair.Done}}
			_ = showPlanHistory(sess, "7f3a1c", rescue(), es, nil, "text")
			_ = showPlanHistory(sess, "c81d", litter(), es, nil, "text")
			_ = showPlanHistory(sess, "7f3a1c-undo", &repair.Plan{Undoes: "7f3a1c", Steps: rescue().Steps}, es, nil, "text")
		},
		"apply-not-yet": func(sess *term.Session) {
			w := &applyRun{sess: sess, Run: &cluster.Run{Plan: rescue()}}
			for _, state := range []finding.State{finding.Unconfirmed, finding.Confirmed} {
				f := finding.Finding{Code: finding.PL3003, Severity: finding.Error, State: state, Subject: model.Ref{Kind: model.KindPod, Name: "shop/db-0"}, Summary: "its host route points to cali2"}
				v := cluster.Verification{Also: []finding.Finding{f}, Broken: []finding.Finding{f}}
				w.also(v.Also)
				w.notYet(v.Broken)
				w.next(v)
				if err := w.verdict(cluster.Result{}, v); !errors.Is(err, term.ExitFindings) {
					t.Errorf("%v", err)
				}
			}
		},
	} {
		termtest.Screen(t, name, termtest.Shown(t, show))
	}
}

func TestBudgetFlag(t *testing.T) {
	t.Parallel()
	b, err := budgetOf([]string{"blocks=5/s", "handles=50"})
	if err != nil || b.Blocks != 5 || b.Handles != 50 || b.Others != cluster.DefaultBudget.Others {
		t.Errorf("%+v, %v", b, err)
	}
	for _, bad := range []string{"blocks", "blocks=0", "blocks=-1", "x=1", "blocks=1e9", "blocks=NaN"} {
		if _, err := budgetOf([]string{bad}); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
}

// A plan of nothing is not saved, so that a file of before stays; it does not end as if that were to be applied.
func TestPlanEnds(t *testing.T) {
	t.Parallel()
	before := filepath.Join(t.TempDir(), "plan.yaml")
	if err := os.WriteFile(before, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		plan *repair.Plan
		save string
		want error
	}{
		{&repair.Plan{}, "", nil},
		{&repair.Plan{}, before + ".new", nil},
		{&repair.Plan{}, before, term.ExitFindings},
		{&repair.Plan{Refused: rescue().Refused}, "", term.ExitFindings},
		{rescue(), before, nil},
	} {
		if err := planEnds(c.plan, c.save); !errors.Is(err, c.want) {
			t.Errorf("%d steps, --save %q: %v, want %v", len(c.plan.Steps), c.save, err, c.want)
		}
	}
}
