package objects

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/api/v1alpha1"
	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// TestReasonIsStable: the reason does not change from one report to the next.
func TestReasonIsStable(t *testing.T) {
	t.Parallel()
	whys := map[string]bool{}
	b := board()
	b.Take(report(noon, inNS("node1", "a"), inNS("node2", "b")))
	for i := range 30 {
		r := report(noon + 200 + model.Time(i)*60)
		r.Skipped = []detect.Skip{{Code: finding.PL3003, Why: "x on node1", Nodes: []string{"node1"}}, {Code: finding.PL3003, Why: "y on node2", Nodes: []string{"node2"}}}
		b.Take(r)
		whys[b.Objects()[0].Status.Conditions[0].Message] = true
	}
	if len(whys) != 1 {
		t.Errorf("the message changes at random: %v", whys)
	}
}

// TestPoolsNotRead: a pool that cannot be read moves no finding.
func TestPoolsNotRead(t *testing.T) {
	t.Parallel()
	b := board()
	b.Take(report(noon, leaked("10.0.0.1")))
	s := &model.Snapshot{}
	s.Coverage = []model.Coverage{{Table: model.Pools, State: model.Lost, Reason: "timeout"}}
	r := report(noon+20, leaked("10.0.0.1"))
	r.View = model.Seal(s)
	r.Skipped = []detect.Skip{{Code: finding.PL1009, Why: "not read: pools"}}
	for _, tr := range b.Take(r) {
		t.Error(tr.Says)
	}
}

// TestConditionTimes: each condition has its own time, never none.
func TestConditionTimes(t *testing.T) {
	t.Parallel()
	b := board()
	b.Take(report(noon, inNS("node1", "a"), inNS("node2", "b")))
	r := report(noon+86400, inNS("node1", "a"))
	r.Skipped = []detect.Skip{{Code: finding.PL3003, Why: "x", Nodes: []string{"node2"}}}
	b.Take(r)
	c := b.Objects()[0].Status.Conditions[0]
	if c.Status == "False" && model.At(c.LastTransitionTime.Time) == noon {
		t.Errorf("%s became False a day later, since %s", c.Type, c.LastTransitionTime.UTC().Format(time.RFC3339))
	}
	o := b.Objects()
	o[0].Status.Conditions = nil
	n := board()
	n.Adopt(o)
	n.Take(report(noon+86410, inNS("node1", "a"), inNS("node2", "b")))
	j, _ := json.Marshal(n.Objects()[0].Status.Conditions)
	if strings.Contains(string(j), "null") {
		t.Errorf("%s", j)
	}
}

// TestFirstSeenOfTheOldest: FirstSeen is that of the oldest that is there.
func TestFirstSeenOfTheOldest(t *testing.T) {
	t.Parallel()
	b := board()
	x, y := leaked("10.0.0.1"), leaked("10.0.0.2")
	x.Since, y.Since = noon-86400*100, noon-60
	b.Take(report(noon, x, y))
	b.Take(report(noon+20, y))
	if f := b.Objects()[0].Status.FirstSeen; model.At(f.Time) != noon-60 {
		t.Errorf("firstSeen %s, the oldest is since %s", f.UTC(), y.Since)
	}
}

// TestSuppressedNotRead: what is suppressed and not read is not resolved.
func TestSuppressedNotRead(t *testing.T) {
	t.Parallel()
	b := board()
	accepted := []audit.Suppression{{Code: finding.PL1001, Subject: "10.0.0.*", Expires: noon + 300}}
	r := report(noon)
	r.Suppressed, r.Suppressing = []finding.Finding{leaked("10.0.0.1")}, accepted
	b.Take(r)
	unread := func(at model.Time) *audit.Report {
		r := report(at)
		r.Skipped = []detect.Skip{{Code: finding.PL1001, Why: "blocks were not read"}}
		r.Suppressing = accepted
		return r
	}
	for _, at := range []model.Time{20, 150, 299} {
		for _, tr := range b.Take(unread(noon + at)) {
			t.Error(tr.Says)
		}
	}
	b.Take(unread(noon + 301)) // it has expired
	if s := b.Objects()[0].Status; s.State != v1alpha1.StateNotChecked || s.Count != 1 || s.Suppressed != 0 {
		t.Errorf("what is accepted no more is %+v", s)
	}
}

// TestNextLeaderAndSuppressed: what was suppressed stays so until the next leader knows better, also while it settles anew.
func TestNextLeaderAndSuppressed(t *testing.T) {
	t.Parallel()
	accepted := []audit.Suppression{{Code: finding.PL1001, Subject: "*", Expires: noon + 3000}}
	hidden := []finding.Finding{leaked("10.0.0.1"), leaked("10.0.0.2")}
	a := board()
	r := report(noon)
	r.Suppressed, r.Suppressing = hidden, accepted
	a.Take(r)
	next := func() *Board {
		b := board()
		b.Adopt(a.Objects())
		return b
	}
	settling := slices.Clone(hidden)
	for i := range settling {
		settling[i].State = finding.Unconfirmed
	}
	b := next()
	r = report(noon + 30)
	r.Suppressed, r.Suppressing = settling, accepted
	told := b.Take(r)
	if s := b.Objects()[0].Status; s.State != v1alpha1.StateSuppressed || s.Suppressed != 2 || len(told) != 0 {
		t.Errorf("while it settles: %+v, %v", s, told)
	}
	b = next()
	r = report(noon + 30)
	r.Unconfirmed = settling // nobody accepts them any more
	b.Take(r)
	if s := b.Objects()[0].Status; s.State != v1alpha1.StateConfirmed || s.Count != 2 || s.Suppressed != 0 {
		t.Errorf("not accepted any more: %+v", s)
	}
	b = next()
	r = report(noon + 30)
	r.Skipped, r.Suppressing = []detect.Skip{{Code: finding.PL1001, Why: "blocks were not read"}}, accepted
	b.Take(r)
	if s := b.Objects()[0].Status; s.State != v1alpha1.StateSuppressed || s.Suppressed != 2 {
		t.Errorf("not read: %+v", s)
	}
	r = report(noon + 200)
	r.Skipped = []detect.Skip{{Code: finding.PL1001, Why: "blocks were not read"}}
	b.Take(r)
	if s := b.Objects()[0].Status; s.State != v1alpha1.StateNotChecked || s.Count != 2 || s.Suppressed != 0 {
		t.Errorf("not read, and not accepted any more: %+v", s)
	}
	b.Take(report(noon + 260))
	if s := b.Objects()[0].Status; s.State != v1alpha1.StateResolved {
		t.Errorf("gone: %+v", s)
	}
}

// TestLongSubjects: subjects that are cut stay different.
func TestLongSubjects(t *testing.T) {
	t.Parallel()
	b := board()
	long := strings.Repeat("x", 250)
	b.Take(report(noon, inNS("node1", long+"-a"), inNS("node1", long+"-b")))
	seen := map[string]bool{}
	for _, s := range b.Objects()[0].Status.Samples {
		if seen[s.Subject] {
			t.Errorf("duplicate list-map key (%d bytes)", len(s.Subject))
		}
		seen[s.Subject] = true
	}
}

// TestEscapedSize: characters that JSON escapes count as what they become.
func TestEscapedSize(t *testing.T) {
	t.Parallel()
	b := board()
	var all []finding.Finding
	for i := range 20 {
		f := onNode("node1", fmt.Sprint(i)+strings.Repeat("<", 250))
		f.Summary = strings.Repeat("<&>", 100)
		all = append(all, f)
	}
	b.Take(report(noon, all...))
	j, _ := json.Marshal(b.Objects()[0])
	if len(j) > 32<<10 {
		t.Errorf("%d bytes, without managedFields", len(j))
	}
}

// TestRepairable: an object says what to do about it.
func TestRepairable(t *testing.T) {
	t.Parallel()
	for c, want := range map[finding.Code]string{
		finding.PL1001:    "True Plan: kubectl plumbline plan --code=PL1001 tells for each finding",
		finding.PL3006:    "False ByHand: restart the pod: it gets a new network namespace",
		finding.PL9004:    "False ByHand: renew or delete the Suppression: kubectl get suppressions",
		v1alpha1.Overflow: "False SeveralCodes: kubectl plumbline plan tells for each finding",
	} {
		g := &group{code: c}
		g.judge(noon)
		all := g.object("x", "y").Status.Conditions
		last := all[len(all)-1]
		if got := fmt.Sprintf("%s %s: %s", last.Status, last.Reason, last.Message); last.Type != "Repairable" || got != want {
			t.Errorf("%s: %s is %s", c, last.Type, got)
		}
	}
}
