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

// following is a Live of a snapshot after one full evaluation.
func following(t *testing.T, s *model.Snapshot) *audit.Live {
	t.Helper()
	o := audit.Options{Detectors: detect.All}
	l, err := audit.NewLive(s, o)
	if err != nil {
		t.Fatal(err)
	}
	anew(l, now)
	return l
}

func apply(t *testing.T, l *audit.Live, at model.Time, changes ...observe.Change) audit.News {
	t.Helper()
	n, err := l.Apply(changes, at)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// second rereads what is due and returns the state of a finding.
func second(t *testing.T, l *audit.Live, at model.Time, src audit.Source) (asked bool) {
	t.Helper()
	look := l.Reread(at, src)
	if look == nil {
		return false
	}
	look.Run(t.Context())
	l.Settle(look)
	return true
}

func state(l *audit.Live, at model.Time, key string) finding.State {
	r := l.Report(at)
	for _, f := range slices.Concat(r.Findings, r.Unconfirmed) {
		if f.Key() == key {
			return f.State
		}
	}
	return "none"
}

var podGone = observe.Change{Ref: model.Ref{Kind: model.KindPod, Name: "shop/web"}}

func leaking(at model.Time) audit.Source {
	pods := owners(leak(base()))
	pods.At = at.Time()
	return audit.Source{Kubernetes: &looks{answers: []observe.Reread{pods}}, Calico: &looks{answers: []observe.Reread{ipam(base())}}}
}

// An unconfirmed finding is reread after a while, and again after its minimum duration,
// although nothing changes in between: only then it is confirmed.
func TestLiveSettles(t *testing.T) {
	t.Parallel()
	const key = "PL1001/10.0.0.1"
	l := following(t, base())
	l.Certain()
	if n := apply(t, l, now+1, podGone); !slices.Contains(n.Raised, key) {
		t.Fatalf("raised %v", n.Raised)
	}
	if second(t, l, now+5, leaking(now+5)) {
		t.Error("looked at too early")
	}
	if !second(t, l, now+11, leaking(now+11)) || state(l, now+11, key) != finding.Unconfirmed {
		t.Errorf("after the first reread: %s", state(l, now+11, key))
	}
	if due := l.Due(); due != now+11+1350 {
		t.Errorf("due at %d, want %d", due-now, 11+1350)
	}
	if second(t, l, now+1300, leaking(now+1300)) || state(l, now+1300, key) != finding.Unconfirmed {
		t.Error("looked at before its time")
	}
	if l.Certain() {
		t.Error("nothing is confirmed yet")
	}
	if !second(t, l, now+1361, leaking(now+1361)) || state(l, now+1361, key) != finding.Confirmed {
		t.Errorf("after the second reread: %s", state(l, now+1361, key))
	}
	if !l.Certain() || l.Certain() {
		t.Error("that it is confirmed must be told, once")
	}
	if second(t, l, now+9000, leaking(now+9000)) {
		t.Error("what is certain was looked at again")
	}
	pod := base().Pods[0]
	if n := apply(t, l, now+9001, observe.Change{Ref: pod.Ref(), Row: &pod}); !slices.Contains(n.Cleared, key) || state(l, now+9001, key) != "none" {
		t.Errorf("cleared %v", n.Cleared)
	}
	if !l.Certain() {
		t.Error("that what was confirmed is gone must be told")
	}
	// It comes back: its age counts from then.
	apply(t, l, now+9002, podGone)
	if s := state(l, now+9002, key); s != finding.Unconfirmed {
		t.Errorf("back at once as %s", s)
	}
}

// A finding that rereads do not find, or cannot verify, stays unconfirmed.
func TestLiveDoubts(t *testing.T) {
	t.Parallel()
	const key = "PL1001/10.0.0.1"
	there := audit.Source{Kubernetes: &looks{answers: []observe.Reread{owners(base())}}, Calico: &looks{answers: []observe.Reread{ipam(base())}}}
	away := audit.Source{Kubernetes: &looks{err: errors.New("away")}, Calico: &looks{}}
	for name, src := range map[string]audit.Source{"not seen again": there, "not to be asked": away} {
		l := following(t, base())
		apply(t, l, now+1, podGone)
		asked := 0
		for at := now + 2; at < now+4000; at++ {
			if second(t, l, at, src) {
				asked++
			}
		}
		if s := state(l, now+4000, key); s != finding.Unconfirmed || asked < 5 || asked > 30 {
			t.Errorf("%s: %s after %d rereads", name, s, asked)
		}
	}
	// A finding whose evidence changes during a reread starts again; that reread is ignored.
	l := following(t, base())
	apply(t, l, now+1, podGone)
	second(t, l, now+11, leaking(now+11))
	look := l.Reread(now+1361, leaking(now+1361))
	b := base().Blocks[0]
	b.Sequences = []model.Sequence{{Ordinal: 1, Number: 8}}
	apply(t, l, now+1361, observe.Change{Ref: b.Ref(), Row: &b})
	look.Run(t.Context())
	l.Settle(look)
	if s := state(l, now+1362, key); s != finding.Unconfirmed {
		t.Errorf("another one is %s", s)
	}
}

// Class Now is confirmed at once, class Node never.
func TestLiveWaitsForNothing(t *testing.T) {
	t.Parallel()
	l := following(t, base())
	b := base().Blocks[0]
	b.Held = []model.Slot{{1, 7}}
	apply(t, l, now+1, observe.Change{Ref: b.Ref(), Row: &b})
	if s := state(l, now+1, "PL1004/10.0.0.0/30"); s != finding.Confirmed {
		t.Errorf("a broken block is %s", s)
	}
	n := base().Nodes[0]
	n.Ready = false
	apply(t, l, now+1, podGone, observe.Change{Ref: n.Ref(), Row: &n}, observe.Change{Ref: b.Ref(), Row: &base().Blocks[0]})
	for at := now + 2; at < now+100; at++ {
		second(t, l, at, leaking(at))
	}
	if s := state(l, now+9000, "PL1001/10.0.0.1"); s != finding.Unconfirmed {
		t.Errorf("a leak on a node that is not ready is %s", s)
	}
}

// Observations of earlier runs count, and new ones are kept for later runs.
func TestLiveRemembers(t *testing.T) {
	t.Parallel()
	const key = "PL1001/10.0.0.1"
	first := judge(t, leak(base()), audit.Source{}, audit.Options{})
	l := following(t, leak(base()))
	l.Recall(first.Memory)
	l.Hurry(now + 2000)
	second(t, l, now+2000, leaking(now+2000))
	if s := state(l, now+2000, key); s != finding.Confirmed {
		t.Errorf("observed long ago: %s", s)
	}
	if m := l.Memory(now + 2000); m[key].First != now || m[key].Last != now+2000 {
		t.Errorf("kept %+v", m)
	}
}

// Adjust is applied again when the cluster row is read again, and that needs no full
// evaluation.
func TestLiveAdjusts(t *testing.T) {
	t.Parallel()
	s := base()
	raw := s.Info[0]
	raw.IPAM, raw.Networking = "", ""
	l := following(t, s)
	l.Adjust = func(s *model.Snapshot) { s.Info[0].IPAM, s.Info[0].Networking = "calico", "calico" }
	told := raw
	apply(t, l, now, observe.Change{Ref: observe.ClusterRef, Row: &told})
	read := &model.Snapshot{Info: []model.Info{raw}, Coverage: []model.Coverage{{Table: model.Cluster, State: model.Complete}, {Table: model.Components, State: model.Complete}}}
	if err := l.Replace(read, model.Cluster, model.Components); err != nil {
		t.Fatal(err)
	}
	if l.Judge(now); l.Stale() {
		t.Error("nothing is another, and all is to be judged")
	}
	raw.Ready = false
	apply(t, l, now, observe.Change{Ref: observe.ClusterRef, Row: &raw})
	if !l.Stale() {
		t.Error("the datastore is locked, and nothing follows")
	}
}

// A table that could not be read again keeps its rows, and detectors that need it are skipped.
func TestLiveLosesATable(t *testing.T) {
	t.Parallel()
	l := following(t, leak(base()))
	read := &model.Snapshot{Coverage: []model.Coverage{{Table: model.Services, State: model.Lost, Reason: "away"}}}
	if err := l.Replace(read, model.Services); err != nil {
		t.Fatal(err)
	}
	if l.Judge(now); !l.Stale() {
		t.Fatal("not to be judged anew")
	}
	anew(l, now)
	r := l.Report(now)
	if len(r.Gaps) != 1 || !slices.ContainsFunc(r.Skipped, func(s detect.Skip) bool { return s.Code == "PL1001" }) || len(r.Unconfirmed) != 0 {
		t.Errorf("gaps %v, skipped %v, unconfirmed %v", r.Gaps, r.Skipped, names(r.Unconfirmed))
	}
}
