package controller

import (
	"context"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/api/v1alpha1"
	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/metrics"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
)

func policy(name, mode string, codes ...string) v1alpha1.RepairPolicy {
	var p v1alpha1.RepairPolicy
	p.Name, p.UID, p.Spec = name, "uid-"+"1", v1alpha1.RepairPolicySpec{Mode: mode, Codes: codes}
	return p
}

// judgement is one in which an address is leaked, or was freed.
func judgement(at model.Time, leaked bool) *cluster.Pass {
	block := model.Block{Name: "10-0-0-0-29", CIDR: netip.MustParsePrefix("10.0.0.0/29"), Length: 8}
	r := &audit.Report{Taken: at}
	if leaked {
		block.Held, block.Attributes = []model.Slot{{1, 0}}, []model.Attribute{{Node: "n1", Handle: "k8s-pod-network." + strings.Repeat("a", 64)}}
		r.Findings = []finding.Finding{{Code: finding.PL1001, Subject: model.Ref{Kind: model.KindAddress, Name: "10.0.0.1"}, State: finding.Confirmed, Since: at - 600}}
	}
	r.View = model.Seal(&model.Snapshot{Blocks: []model.Block{block}, Coverage: []model.Coverage{{Table: model.Blocks, State: model.Complete}, {Table: model.Handles, State: model.Complete}}})
	return &cluster.Pass{Report: r, Plan: func(_ context.Context, _ *audit.Report, chosen []finding.Finding) *repair.Plan {
		p := &repair.Plan{}
		for i := range chosen {
			p.Targets = append(p.Targets, repair.Target{Finding: chosen[i].Key()})
		}
		return p
	}}
}

// A decision is counted while it is open, and then as right, by this leader and by the next.
func TestPolicies(t *testing.T) {
	t.Parallel()
	const noon = model.Time(1_800_000_000)
	var told []metrics.Number
	newOne := func() *policies {
		return newPolicies(nil, slog.New(slog.DiscardHandler), func(all []metrics.Number) { told = all })
	}
	p := newOne()
	stored := policy("leaks", "Shadow", "PL1001")
	step := func(pass *cluster.Pass, open, right, wrong int64) {
		t.Helper()
		p.follow(t.Context(), []v1alpha1.RepairPolicy{stored}, pass)
		if a := p.answer["leaks"]; a != nil {
			stored = *a // as the API server has it then
		}
		s := stored.Status
		if s.Open != open || s.Right != right || s.Wrong != wrong || s.State != v1alpha1.ModeShadow {
			t.Errorf("got %+v, want %d open, %d right, %d wrong", s, open, right, wrong)
		}
	}
	step(judgement(noon, true), 1, 0, 0)
	step(judgement(noon+60, false), 1, 0, 0)
	step(judgement(noon+400, false), 0, 1, 0)
	if d := stored.Status.Recent; len(d) != 1 || d[0].Finding != "PL1001/10.0.0.1" || d[0].Outcome != v1alpha1.OutcomeRight || d[0].Decided.Unix() != int64(noon) {
		t.Errorf("got %+v", d)
	}
	if len(told) != 3 {
		t.Errorf("%d numbers", len(told))
	}
	stored.Status.Recent[0].Decided.Time = stored.Status.Recent[0].Decided.In(time.FixedZone("x", 3600)) // as it may be read
	p.follow(t.Context(), []v1alpha1.RepairPolicy{stored}, judgement(noon+420, false))
	if len(p.answer) > 0 {
		t.Error("nothing changed, and it is written again")
	}
	p = newOne() // the next leader
	step(judgement(noon+500, true), 1, 1, 0)
	step(judgement(noon+560, false), 1, 1, 0)
	step(judgement(noon+900, false), 0, 2, 0)
	stored.Spec.Mode = v1alpha1.ModeOff
	p.follow(t.Context(), []v1alpha1.RepairPolicy{stored}, judgement(noon+1000, true))
	if s := p.answer["leaks"].Status; s.State != v1alpha1.ModeOff || s.Open != 0 || s.Right != 2 {
		t.Errorf("off: %+v", s)
	}
}
