package objects

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/api/v1alpha1"
	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

const noon = model.Time(1_800_000_000)

func board() *Board {
	return NewBoard(func(c finding.Code) string { return "what " + string(c) + " means" })
}

// A report of a cluster with one pool.
func report(at model.Time, confirmed ...finding.Finding) *audit.Report {
	s := &model.Snapshot{Pools: []model.Pool{{Name: "default", CIDR: netip.MustParsePrefix("10.0.0.0/8")}}}
	s.Coverage = []model.Coverage{{Table: model.Pools, State: model.Complete}}
	return &audit.Report{View: model.Seal(s), Taken: at, Findings: confirmed}
}

func leaked(ip string) finding.Finding {
	return finding.Finding{Code: finding.PL1001, Severity: finding.Warning, Subject: model.Ref{Kind: model.KindAddress, Name: ip}, Summary: "nobody uses it", State: finding.Confirmed, Since: noon - 600}
}

func onNode(node, what string) finding.Finding {
	return finding.Finding{Code: finding.PL3001, Severity: finding.Info, Subject: model.Ref{Kind: model.KindLink, Name: node + "/" + what}, State: finding.Confirmed, Since: noon - 60, Node: node}
}

func one(t *testing.T, b *Board, state string, count int64) v1alpha1.Finding {
	t.Helper()
	all := b.Objects()
	if len(all) != 1 || all[0].Status.State != state || all[0].Status.Count != count {
		t.Fatalf("want one finding, %s, of %d, got %+v", state, count, all)
	}
	return all[0]
}

func changes(ts []Transition) string {
	var s []string
	for _, t := range ts {
		s = append(s, t.Object+" "+t.State)
	}
	return strings.Join(s, ", ")
}

func TestLife(t *testing.T) {
	t.Parallel()
	b := board()
	if got := changes(b.Take(report(noon, leaked("10.0.0.2"), leaked("10.0.0.1")))); got != "pl1001-pool-default Confirmed" {
		t.Errorf("told %q", got)
	}
	o := one(t, b, v1alpha1.StateConfirmed, 2)
	if o.Status.Samples[0].Subject != "10.0.0.1" || model.At(o.Status.FirstSeen.Time) != noon-600 || o.Status.Severity != "warning" {
		t.Errorf("got %+v", o.Status)
	}
	if got := b.Take(report(noon+20, leaked("10.0.0.2"))); len(got) != 0 {
		t.Errorf("fewer of them: told %q", changes(got))
	}
	one(t, b, v1alpha1.StateConfirmed, 1)
	if got := changes(b.Take(report(noon + 40))); got != "pl1001-pool-default Resolved" {
		t.Errorf("told %q", got)
	}
	if o := one(t, b, v1alpha1.StateResolved, 0); model.At(o.Status.ResolvedAt.Time) != noon+40 || len(o.Status.Samples) != 0 {
		t.Errorf("got %+v", o.Status)
	}
	back := leaked("10.0.0.3")
	back.Since = noon + 50
	b.Take(report(noon+60, back))
	if o := one(t, b, v1alpha1.StateConfirmed, 1); model.At(o.Status.FirstSeen.Time) != noon+50 || !o.Status.ResolvedAt.IsZero() {
		t.Errorf("back again: %+v", o.Status)
	}
	b.Take(report(noon + 80))
	b.Take(report(noon + 82 + model.Time(keptResolved/time.Second)))
	if n := len(b.Objects()); n != 0 {
		t.Errorf("%d objects a day later", n)
	}
}

// TestNotRead: what could not be read is not resolved, and goes on being counted.
func TestNotRead(t *testing.T) {
	t.Parallel()
	for name, skip := range map[string]detect.Skip{
		"the node":     {Code: finding.PL3001, Why: "its agent does not answer", Nodes: []string{"node1", "node7"}},
		"the detector": {Code: finding.PL3001, Why: "links were not read"},
		"no agents":    {Code: finding.PL3001, Why: "there are no agents", OutOfScope: true},
	} {
		b := board()
		b.Take(report(noon, onNode("node1", "cali1"), onNode("node1", "cali2")))
		for at, want := range []string{"", "pl3001-node-node1 NotChecked", ""} { // not while an agent restarts
			r := report(noon + 20 + model.Time(at)*120)
			r.Skipped = []detect.Skip{skip}
			if got := changes(b.Take(r)); got != want {
				t.Errorf("%s: told %q", name, got)
			}
		}
		if o := one(t, b, v1alpha1.StateNotChecked, 2); o.Status.NotChecked != 2 || !strings.Contains(fmt.Sprint(o.Status.Conditions), skip.Why) {
			t.Errorf("%s: %+v", name, o.Status)
		}
		b.Take(report(noon + 400))
		one(t, b, v1alpha1.StateResolved, 0)
	}
	b := board() // another node's silence, and what does not apply, do not matter
	b.Take(report(noon, onNode("node1", "cali1")))
	r := report(noon + 20)
	r.Skipped = []detect.Skip{{Code: finding.PL3001, Nodes: []string{"node2"}, Why: "silent"}, {Code: finding.PL1001, Why: "not read"}, {Code: finding.PL3001, Why: "no such thing", NotApplicable: true}}
	b.Take(r)
	one(t, b, v1alpha1.StateResolved, 0)
}

// TestSettlesAnew: a finding whose evidence changes is not resolved meanwhile; one of another
// subject that is not confirmed yet does not hold it.
func TestSettlesAnew(t *testing.T) {
	t.Parallel()
	b := board()
	b.Take(report(noon, leaked("10.0.0.1")))
	r := report(noon + 20)
	r.Unconfirmed = []finding.Finding{leaked("10.0.0.1"), leaked("10.0.0.9")}
	if got := b.Take(r); len(got) != 0 {
		t.Errorf("told %q", changes(got))
	}
	one(t, b, v1alpha1.StateConfirmed, 1)
	r = report(noon + 30)
	r.Folded = []finding.Finding{leaked("10.0.0.1"), leaked("10.0.0.8")}
	if got := b.Take(r); len(got) != 0 {
		t.Errorf("explained by another: told %q", changes(got))
	}
	one(t, b, v1alpha1.StateConfirmed, 1)
	r = report(noon + 40)
	r.Unconfirmed = []finding.Finding{leaked("10.0.0.9")}
	b.Take(r)
	one(t, b, v1alpha1.StateResolved, 0)
}

// TestNextLeader: a new leader has the findings of the earlier one from its first report on, tells
// nobody anew, and does not hold on to what is gone.
func TestNextLeader(t *testing.T) {
	t.Parallel()
	first := board()
	var all []finding.Finding
	for i := range 50 {
		all = append(all, leaked(fmt.Sprintf("10.0.0.%d", i)))
	}
	first.Take(report(noon, all...))
	wrote := first.Objects()

	next := board()
	next.Adopt(wrote)
	r := report(noon + 100)
	r.Unconfirmed = all[:48]
	if got := next.Take(r); len(got) != 0 {
		t.Errorf("told %q", changes(got))
	}
	if o := one(t, next, v1alpha1.StateConfirmed, 48); !o.Status.FirstSeen.Equal(&wrote[0].Status.FirstSeen) || len(o.Status.Samples) != v1alpha1.MaxSamples {
		t.Errorf("got %+v", o.Status)
	}
	late := report(noon + 300)
	late.Unconfirmed = []finding.Finding{leaked("10.0.0.200")}
	next.Take(late)
	one(t, next, v1alpha1.StateResolved, 0)

	silent := board()
	silent.Adopt(wrote)
	for at, state := range []string{v1alpha1.StateConfirmed, v1alpha1.StateNotChecked} { // its sources may come up with it
		r = report(noon + 200 + model.Time(at)*121)
		r.Skipped = []detect.Skip{{Code: finding.PL1001, Why: "blocks were not read"}}
		silent.Take(r)
		one(t, silent, state, 50)
	}

	forged := board() // names and codes that are not the controller's are left alone
	odd := wrote[0]
	odd.Name = "pl1001-pool-other"
	forged.Adopt([]v1alpha1.Finding{odd})
	if n := len(forged.Objects()); n != 0 {
		t.Errorf("%d forged objects were adopted", n)
	}
}

func TestSuppressed(t *testing.T) {
	t.Parallel()
	b := board()
	r := report(noon)
	r.Suppressed = []finding.Finding{leaked("10.0.0.1")}
	if got := b.Take(r); len(got) != 0 {
		t.Errorf("told %q", changes(got))
	}
	if o := one(t, b, v1alpha1.StateSuppressed, 0); o.Status.Suppressed != 1 {
		t.Errorf("got %+v", o.Status)
	}
	if got := changes(b.Take(report(noon+20, leaked("10.0.0.1")))); got != "pl1001-pool-default Confirmed" {
		t.Errorf("no longer suppressed: told %q", got)
	}
}

// TestBounds: 63,000 findings about hostile names in 1,700 groups are 500 objects of bounded size,
// and none is lost from the count.
func TestBounds(t *testing.T) {
	t.Parallel()
	b := board()
	var all []finding.Finding
	for i := range 63_000 {
		f := onNode(fmt.Sprintf("node%d", i%1700), fmt.Sprint(i)+strings.Repeat("\x1b\u202e語", 60))
		f.Summary = strings.Repeat("é\x00", 200)
		if i%1700 == 1699 {
			f.Severity = finding.Error
		}
		all = append(all, f)
	}
	b.Take(report(noon, all...))
	objects := b.Objects()
	var count, size int64
	for _, o := range objects {
		count += o.Status.Count
		j, err := json.Marshal(o)
		if err != nil || len(j) > 32<<10 || len(o.Status.Samples) > v1alpha1.MaxSamples {
			t.Fatalf("%d bytes: %v", len(j), err)
		}
		size += int64(len(j))
	}
	if len(objects) != v1alpha1.MaxFindings || count != 63_000 || size > 16<<20 {
		t.Errorf("%d objects of %d bytes count %d", len(objects), size, count)
	}
	if objects[0].Name != "pl3001-node-node1699" || objects[0].Status.Severity != "error" {
		t.Errorf("the worst is not first: %s", objects[0].Name)
	}
	if last := objects[len(objects)-1]; last.Name != "overflow" || !strings.Contains(last.Status.What, "1201 more groups") {
		t.Errorf("got %s: %s", last.Name, last.Status.What)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, in := range []string{"default", "a.b-c", "", "Ünix", "a/b", "a b", strings.Repeat("x", 253), strings.Repeat("x", 252), "../..", "-", "A", "a"} {
		name := nameOf(finding.PL1001, v1alpha1.FindingGroup{Kind: "Pool", Name: in})
		if !objectName.MatchString(name) || len(name) > 253 {
			t.Errorf("%.20q: %q", in, name)
		}
		if other, twice := seen[name]; twice {
			t.Errorf("%q and %q are both %s", in, other, name)
		}
		seen[name] = in
	}
}
