package audit_test

import (
	"testing"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

func (f *followed) again(at model.Time, src audit.Source) *audit.Report {
	return f.series.Again(f.t.Context(), at, src)
}

// What is due is reread and confirmed without another judgement, at the times at which a judgement would
// do it, and nothing else is asked for.
func TestSeriesAgain(t *testing.T) {
	t.Parallel()
	f := follow(t, base(), audit.Options{})
	if r := f.again(now, audit.Source{}); r != nil {
		t.Error("something was due before the first judgement")
	}
	f.judge(now, audit.Source{})
	f.put(podGone)
	f.judge(now+1, audit.Source{})
	for _, step := range []struct {
		at     model.Time
		reread bool
		want   finding.State
	}{
		{now + 4, false, ""}, // too early
		{now + 6, true, finding.Unconfirmed},
		{now + 1355, false, ""}, // before its time
		{now + 1356, true, finding.Confirmed},
		{now + 9000, false, ""}, // nothing is due any more
	} {
		src, asked := leaking(step.at)
		got := finding.State("")
		if r := f.again(step.at, src); r != nil {
			got = state(r, leaked)
			if r.Taken != now+1 || len(r.Judged) == 0 {
				t.Errorf("at %d: taken at %d, %d codes judged", step.at-now, r.Taken-now, len(r.Judged))
			}
		}
		if got != step.want || (asked.asked > 0) != step.reread {
			t.Errorf("at %d: %s, reread %d times", step.at-now, got, asked.asked)
		}
	}
	if s := state(f.judge(now+9001, audit.Source{}), leaked); s != finding.Confirmed {
		t.Errorf("judged again: %s", s)
	}
}

// What a reread does not see is gone until a judgement finds it again, and then it waits; what else is
// reread meanwhile does not bring it back.
func TestSeriesAgainUnseen(t *testing.T) {
	t.Parallel()
	f := follow(t, base(), audit.Options{})
	f.judge(now, audit.Source{})
	f.put(podGone)
	f.judge(now+1, audit.Source{})
	orphan := model.Handle{ID: "k8s-pod-network." + containerOf("other"), Blocks: base().Handles[0].Blocks}
	f.put(observe.Change{Ref: orphan.Ref(), Row: &orphan})
	f.judge(now+3, audit.Source{})
	src := func() audit.Source {
		records := ipam(base())
		records.Rows.Handles, records.Read = []model.Handle{orphan}, append(records.Read, orphan.Ref())
		return audit.Source{Kubernetes: &looks{answers: []observe.Reread{owners(base())}}, Calico: &looks{answers: []observe.Reread{records}}}
	}
	if s := state(f.again(now+6, src()), leaked); s != "none" {
		t.Errorf("its pod is there: %s", s)
	}
	if r := f.again(now+7, src()); r != nil {
		t.Error("what is gone was due")
	}
	r := f.again(now+9, src()) // the handle is due
	if s := state(r, leaked); s != "none" {
		t.Errorf("back with another reread: %s", s)
	}
	if s := state(r, "PL1006/"+orphan.ID); s != finding.Unconfirmed {
		t.Errorf("the handle: %s of %v", s, names(r.Unconfirmed))
	}
	if r := f.again(now+100, src()); r != nil {
		t.Error("what is gone was due again")
	}
	if s := state(f.judge(now+101, audit.Source{}), leaked); s != finding.Unconfirmed {
		t.Errorf("found again: %s", s)
	}
}

// A reread that fails confirms nothing, and the finding stays.
func TestSeriesAgainFails(t *testing.T) {
	t.Parallel()
	f := follow(t, base(), audit.Options{})
	f.judge(now, audit.Source{})
	f.put(podGone)
	f.judge(now+1, audit.Source{})
	for _, at := range []model.Time{6, 20, 2000} {
		r := f.again(now+at, audit.Source{Kubernetes: &looks{err: errAway}, Calico: &looks{answers: []observe.Reread{ipam(base())}}})
		if s := state(r, leaked); s != finding.Unconfirmed {
			t.Errorf("at %d: %s", at, s)
		}
	}
	src, _ := leaking(now + 4000)
	if s := state(f.again(now+4000, src), leaked); s != finding.Unconfirmed { // it was never reread before
		t.Errorf("the first time that it is seen: %s", s)
	}
}
