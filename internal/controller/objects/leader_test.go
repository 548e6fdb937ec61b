package objects

import (
	"fmt"
	"testing"

	"plumbline.dev/plumbline/api/v1alpha1"
	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

func inNS(node, pod string) finding.Finding {
	return finding.Finding{Code: finding.PL3003, Severity: finding.Error, Subject: model.Ref{Kind: model.KindPod, Name: "shop/" + pod}, Namespace: "shop", Node: node, State: finding.Confirmed, Since: noon - 60}
}

// TestNextLeaderWaitsForFindingsToSettle: a leak takes longer to be confirmed than any fixed time: until then it is what the earlier leader said.
func TestNextLeaderWaitsForFindingsToSettle(t *testing.T) {
	t.Parallel()
	var all []finding.Finding
	for i := range 50 {
		all = append(all, leaked(fmt.Sprintf("10.0.0.%d", i)))
	}
	a := board()
	a.Take(report(noon, all...))
	b := board()
	b.Adopt(a.Objects())
	for _, at := range []model.Time{60, 600, 1199, 1261, 1300} {
		r := report(noon + at)
		r.Unconfirmed = all
		b.Take(r)
		if c := b.Objects()[0].Status.Count; c != 50 {
			t.Errorf("after %d s: %d, want 50", at, c)
		}
	}
}

// TestNextLeaderReadsNothing: what cannot be read for long is not forgotten.
func TestNextLeaderReadsNothing(t *testing.T) {
	t.Parallel()
	var all []finding.Finding
	for i := range 50 {
		all = append(all, leaked(fmt.Sprintf("10.0.0.%d", i)))
	}
	a := board()
	a.Take(report(noon, all...))
	b := board()
	b.Adopt(a.Objects())
	for _, at := range []model.Time{60, 600, 1199, 1261, 1300} {
		r := report(noon + at)
		r.Skipped = []detect.Skip{{Code: finding.PL1001, Why: "blocks were not read"}}
		b.Take(r)
		if c := b.Objects()[0].Status.Count; c != 50 {
			t.Errorf("after %d s: %d, want 50", at, c)
		}
	}
}

// TestNextLeaderAndSilentNode: what is on a silent node is not resolved by the next leader.
func TestNextLeaderAndSilentNode(t *testing.T) {
	t.Parallel()
	a := board()
	a.Take(report(noon, inNS("node1", "a"), inNS("node2", "b"), inNS("node2", "c")))
	skip := []detect.Skip{{Code: finding.PL3003, Why: "not read on node2", Nodes: []string{"node2"}}}
	r := report(noon+20, inNS("node1", "a"))
	r.Skipped = skip
	a.Take(r)
	one(t, a, v1alpha1.StateConfirmed, 3)
	b := board()
	b.Adopt(a.Objects())
	r = report(noon + 60) // node1 repaired, node2 silent still
	r.Skipped = skip
	b.Take(r)
	if got := b.Objects()[0].Status; got.State == v1alpha1.StateResolved || got.Count != 2 {
		t.Errorf("%s %d", got.State, got.Count)
	}
}

// TestNextLeaderAndManyOnSilentNode: findings that are not known by name may be on the node that was not read: at least those are counted.
func TestNextLeaderAndManyOnSilentNode(t *testing.T) {
	t.Parallel()
	var all []finding.Finding
	for i := range 50 {
		all = append(all, inNS(fmt.Sprintf("node%d", i/25), fmt.Sprintf("p%02d", i)))
	}
	a := board()
	a.Take(report(noon, all...))
	b := board()
	b.Adopt(a.Objects())
	r := report(noon + 60)
	r.Skipped = []detect.Skip{{Code: finding.PL3003, Why: "not read on node1", Nodes: []string{"node1"}}}
	b.Take(r)
	if got := b.Objects()[0].Status; got.Count < 25 || got.Count > 30 || got.State == v1alpha1.StateResolved {
		t.Errorf("%s %d, want 25 to 30", got.State, got.Count)
	}
}

// TestUnreadNodeOfAnotherObject: a finding about several nodes is not resolved while one of them is not read, nor by the next leader.
func TestUnreadNodeOfAnotherObject(t *testing.T) {
	t.Parallel()
	f := leaked("10.0.0.1")
	f.Code = finding.PL2010
	f.About = []model.Ref{{Kind: model.KindSandbox, Name: "node1/x"}}
	skip := []detect.Skip{{Code: finding.PL2010, Why: "not read on node1", Nodes: []string{"node1"}}}
	for _, lead := range []bool{false, true} {
		a := board()
		a.Take(report(noon, f))
		if lead {
			b := board()
			b.Adopt(a.Objects())
			a = b
		}
		r := report(noon + 20)
		r.Skipped = skip
		a.Take(r)
		if got := a.Objects()[0].Status; got.State == v1alpha1.StateResolved {
			t.Errorf("new leader %t: %s", lead, got.State)
		}
	}
}

// TestNextLeaderAndOverflow: what has no object is counted by the next leader too, and says what was not checked.
func TestNextLeaderAndOverflow(t *testing.T) {
	t.Parallel()
	var all []finding.Finding
	for i := range 1700 {
		all = append(all, onNode(fmt.Sprintf("node%d", i), "cali1"))
	}
	a := board()
	a.Take(report(noon, all...))
	b := board()
	b.Adopt(a.Objects())
	r := report(noon + 60)
	r.Unconfirmed = all
	b.Take(r)
	var n int64
	for _, o := range b.Objects() {
		n += o.Status.Count
	}
	if n != 1700 {
		t.Errorf("the next leader counts %d of 1700 in %d objects", n, len(b.Objects()))
	}
	r = report(noon + 600)
	r.Skipped = []detect.Skip{{Code: finding.PL3001, Why: "x"}}
	a.Take(r)
	os := a.Objects()
	if last := os[len(os)-1].Status; last.State != v1alpha1.StateNotChecked || last.NotChecked != last.Count {
		t.Errorf("overflow %s count %d notChecked %d", last.State, last.Count, last.NotChecked)
	}
}

// TestNextLeaderAndRestartingAgent: an agent that restarts together with the controller is no news.
func TestNextLeaderAndRestartingAgent(t *testing.T) {
	t.Parallel()
	a := board()
	a.Take(report(noon, onNode("node1", "c")))
	b := board()
	b.Adopt(a.Objects()) // lastSeen may be ten minutes old
	r := report(noon + 500)
	r.Skipped = []detect.Skip{{Code: finding.PL3001, Why: "agent restarts", Nodes: []string{"node1"}}}
	for _, tr := range b.Take(r) {
		t.Error(tr.Says)
	}
}

// TestNextLeaderAndNotChecked: what an earlier leader could not check is not confirmed because there is another leader.
func TestNextLeaderAndNotChecked(t *testing.T) {
	t.Parallel()
	for _, n := range []int{2, 50} {
		var all []finding.Finding
		for i := range n {
			all = append(all, inNS("node1", fmt.Sprintf("p%d", i)))
		}
		skip := []detect.Skip{{Code: finding.PL3003, Why: "its agent does not answer", Nodes: []string{"node1"}}}
		silent := func(at model.Time) *audit.Report {
			r := report(at)
			r.Skipped = skip
			return r
		}
		a := board()
		a.Take(report(noon, all...))
		a.Take(silent(noon + 20))
		a.Take(silent(noon + 600))
		was := one(t, a, v1alpha1.StateNotChecked, int64(n)).Status
		b := board()
		b.Adopt(a.Objects())
		told := changes(b.Take(silent(noon + 300_000)))
		is := one(t, b, v1alpha1.StateNotChecked, int64(n)).Status
		if told != "" || is.LastSeen != was.LastSeen || is.NotChecked != int64(n) {
			t.Errorf("%d: told %q, last seen %s, was %s, %d not checked", n, told, is.LastSeen, was.LastSeen, is.NotChecked)
		}
		for _, c := range b.Counts() {
			if c.State == v1alpha1.StateConfirmed && c.N > 0 {
				t.Errorf("%d: counted as %+v", n, c)
			}
		}
		b.Take(report(noon+300_020, all...))
		one(t, b, v1alpha1.StateConfirmed, int64(n))
	}
}
