package audit_test

import (
	"errors"
	"slices"
	"testing"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// A followed is a cluster that is judged again and again from rows that change.
type followed struct {
	t      *testing.T
	rows   *observe.Rows
	series *audit.Series
}

func follow(t *testing.T, s *model.Snapshot, o audit.Options) *followed {
	t.Helper()
	rows, err := observe.NewRows(s)
	if err != nil {
		t.Fatal(err)
	}
	if o.Detectors == nil {
		o.Detectors = detect.All
	}
	return &followed{t, rows, audit.NewSeries(o)}
}

func (f *followed) put(cs ...observe.Change) {
	f.t.Helper()
	if err := f.rows.Put(cs); err != nil {
		f.t.Fatal(err)
	}
}

func (f *followed) judge(at model.Time, src audit.Source) *audit.Report {
	f.t.Helper()
	return f.series.Judge(f.t.Context(), f.rows.Snapshot(at), src)
}

func state(r *audit.Report, key string) finding.State {
	for _, f := range slices.Concat(r.Findings, r.Unconfirmed) {
		if f.Key() == key {
			return f.State
		}
	}
	return "none"
}

var errAway = errors.New("away")

var podGone = observe.Change{Ref: model.Ref{Kind: model.KindPod, Name: "shop/web"}}

// leaking rereads a cluster in which the pod is gone, and counts how often.
func leaking(at model.Time) (audit.Source, *looks) {
	pods := owners(leak(base()))
	pods.At = at.Time()
	kubernetes := &looks{answers: []observe.Reread{pods}}
	return audit.Source{Kubernetes: kubernetes, Calico: &looks{answers: []observe.Reread{ipam(base())}}}, kubernetes
}

const leaked = "PL1001/10.0.0.1"

// A finding is reread when it has stood for a while, and again when its time has come,
// though nothing changes in between: only then it is confirmed.
func TestSeriesSettles(t *testing.T) {
	t.Parallel()
	f := follow(t, base(), audit.Options{})
	f.judge(now, audit.Source{})
	f.put(podGone)
	for _, step := range []struct {
		at     model.Time
		reread bool
		want   finding.State
	}{
		{now + 1, false, finding.Unconfirmed},
		{now + 4, false, finding.Unconfirmed}, // too early
		{now + 6, true, finding.Unconfirmed},
		{now + 1300, false, finding.Unconfirmed}, // before its time
		{now + 1356, true, finding.Confirmed},
		{now + 9000, false, finding.Confirmed}, // what is confirmed and unchanged is not reread
	} {
		src, asked := leaking(step.at)
		r := f.judge(step.at, src)
		if got := state(r, leaked); got != step.want || (asked.asked > 0) != step.reread {
			t.Errorf("at %d: %s, reread %d times", step.at-now, got, asked.asked)
		}
		if step.at == now+6 && f.series.Due() != now+6+1350 {
			t.Errorf("due at %d, want %d", f.series.Due()-now, 6+1350)
		}
	}
	pod := base().Pods[0]
	f.put(observe.Change{Ref: pod.Ref(), Row: &pod})
	if s := state(f.judge(now+9001, audit.Source{}), leaked); s != "none" {
		t.Errorf("the pod is back: %s", s)
	}
	f.put(podGone) // it must be proven anew
	if s := state(f.judge(now+9002, audit.Source{}), leaked); s != finding.Unconfirmed {
		t.Errorf("back at once as %s", s)
	}
}

// What a reread does not see, or cannot read, is not confirmed, however long it stands; and
// it is reread ever more rarely.
func TestSeriesDoubts(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func() *looks{
		"not seen again": func() *looks { return &looks{answers: []observe.Reread{owners(base())}} },
		"unreachable":    func() *looks { return &looks{err: errAway} },
	} {
		f := follow(t, base(), audit.Options{})
		f.judge(now, audit.Source{})
		f.put(podGone)
		rereads := 0
		for at := now + 2; at < now+4000; at += 5 {
			k := answer()
			r := f.judge(at, audit.Source{Kubernetes: k, Calico: &looks{answers: []observe.Reread{ipam(base())}}})
			if k.asked > 0 {
				rereads++
			}
			if s := state(r, leaked); s == finding.Confirmed {
				t.Fatalf("%s: confirmed at %d", name, at-now)
			}
		}
		if rereads < 5 || rereads > 30 {
			t.Errorf("%s: reread %d times", name, rereads)
		}
	}
	// One whose evidence changes begins anew.
	f := follow(t, base(), audit.Options{})
	f.judge(now, audit.Source{})
	f.put(podGone)
	f.judge(now+1, audit.Source{})
	src, _ := leaking(now + 12)
	f.judge(now+12, src)
	b := base().Blocks[0]
	b.Sequences = []model.Sequence{{Ordinal: 1, Number: 8}}
	f.put(observe.Change{Ref: b.Ref(), Row: &b})
	if s := state(f.judge(now+1362, audit.Source{}), leaked); s != finding.Unconfirmed {
		t.Errorf("another one is %s", s)
	}
}

// A fact by itself is confirmed at once, and what only a node can prove never.
func TestSeriesWaitsForNothing(t *testing.T) {
	t.Parallel()
	f := follow(t, base(), audit.Options{})
	b := base().Blocks[0]
	b.Held = []model.Slot{{1, 7}}
	f.put(observe.Change{Ref: b.Ref(), Row: &b})
	if s := state(f.judge(now+1, audit.Source{}), "PL1004/10.0.0.0/30"); s != finding.Confirmed {
		t.Errorf("a broken block is %s", s)
	}
	n := base().Nodes[0]
	n.Ready = false
	f.put(podGone, observe.Change{Ref: n.Ref(), Row: &n}, observe.Change{Ref: b.Ref(), Row: &base().Blocks[0]})
	for at := now + 2; at < now+3000; at += 50 {
		src, _ := leaking(at)
		if s := state(f.judge(at, src), leaked); s != finding.Unconfirmed {
			t.Fatalf("a leak of a node that is not ready is %s", s)
		}
	}
}

// What earlier runs saw counts, and what is seen is kept for later ones.
func TestSeriesRemembers(t *testing.T) {
	t.Parallel()
	first := judge(t, leak(base()), audit.Source{}, audit.Options{})
	f := follow(t, leak(base()), audit.Options{Recall: func(string) audit.Memory { return first.Memory }})
	src, _ := leaking(now + 2000)
	if s := state(f.judge(now+2000, src), leaked); s != finding.Confirmed {
		t.Errorf("what was seen long ago is %s", s)
	}
	if m := f.series.Memory(); m[leaked].First != now || m[leaked].Last != now+2000 {
		t.Errorf("kept %+v", m)
	}
}

// A table that could not be read again keeps its rows, and what needs it is not judged.
func TestRowsLoseATable(t *testing.T) {
	t.Parallel()
	f := follow(t, leak(base()), audit.Options{})
	read := &model.Snapshot{Coverage: []model.Coverage{{Table: model.Services, State: model.Lost, Reason: "away"}}}
	if err := f.rows.Replace(read, model.Services); err != nil {
		t.Fatal(err)
	}
	r := f.judge(now, audit.Source{})
	if len(r.Gaps) != 1 || !slices.ContainsFunc(r.Skipped, func(s detect.Skip) bool { return s.Code == "PL1001" }) || len(r.Unconfirmed) != 0 {
		t.Errorf("gaps %v, skipped %v, unconfirmed %v", r.Gaps, r.Skipped, names(r.Unconfirmed))
	}
}

// Two objects of one name cannot be followed, and a change of an unknown kind is refused.
func TestRowsRefuse(t *testing.T) {
	t.Parallel()
	s := base()
	twin := s.Blocks[0]
	twin.Name = "another"
	s.Blocks = append(s.Blocks, twin)
	if _, err := observe.NewRows(s); !errors.Is(err, observe.ErrDuplicate) {
		t.Errorf("two blocks of one range: %v", err)
	}
	rows, err := observe.NewRows(base())
	if err != nil {
		t.Fatal(err)
	}
	if err := rows.Put([]observe.Change{{Ref: twin.Ref(), Row: &twin}}); !errors.Is(err, observe.ErrDuplicate) {
		t.Errorf("a second block of a range: %v", err)
	}
	for _, c := range []observe.Change{{Ref: model.Ref{Kind: model.KindMount, Name: "x"}}, {Ref: twin.Ref(), Row: &model.Pod{}}, {Ref: observe.ClusterRef, Row: &model.Pod{}}} {
		if err := rows.Put([]observe.Change{c}); err == nil {
			t.Errorf("%s with %T was taken", c.Ref, c.Row)
		}
	}
}
