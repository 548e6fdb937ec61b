package audit_test

import (
	"context"
	"slices"
	"testing"
	"time"

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

// A kube answers a reread with the pods it has, and with nothing that was not asked for.
type kube struct {
	pods []model.Pod
	at   model.Time
}

func (k *kube) Reread(_ context.Context, refs []model.Ref) (observe.Reread, error) {
	out := observe.Reread{Read: refs, At: k.at.Time()}
	for i := range k.pods {
		if slices.Contains(refs, k.pods[i].Ref()) {
			out.Rows.Pods = append(out.Rows.Pods, k.pods[i])
		}
	}
	return out, nil
}

// What an earlier reread no longer saw is looked for by the next one too: the rows are still those of the
// last judgement, and have it.
func TestSeriesAgainKeepsAway(t *testing.T) {
	t.Parallel()
	const shared = "PL2010/10.0.0.1"
	f := follow(t, base(), audit.Options{Settle: 30 * time.Second})
	f.judge(now, audit.Source{})
	pods := base().Pods
	for _, name := range []string{"web2", "web3"} {
		p := pods[0]
		p.Name, p.UID, p.ContainerID, p.Written = name, name, containerOf(name), now
		pods = append(pods, p)
		f.put(observe.Change{Ref: p.Ref(), Row: &p})
	}
	if r := f.judge(now+1, audit.Source{}); state(r, shared) != finding.Unconfirmed {
		t.Fatalf("%v, %v", names(r.Findings), names(r.Unconfirmed))
	}
	rereads := 0
	for at := now + 2; at < now+60; at++ {
		r := f.again(at, audit.Source{Kubernetes: &kube{pods[:2], at}, Calico: &looks{answers: []observe.Reread{ipam(base())}}})
		if r == nil {
			continue
		}
		rereads++
		for _, x := range slices.Concat(r.Findings, r.Unconfirmed) {
			for _, e := range x.Evidence {
				if x.Key() == shared && e.Ref == pods[2].Ref() {
					t.Errorf("reread %d names a pod that is gone: %s", rereads, x.Summary)
				}
			}
		}
	}
	if rereads < 2 {
		t.Errorf("%d rereads", rereads)
	}
}

// Rows of nodes cannot prove themselves when no agent answers any more.
func TestSeriesAgainWithoutAgents(t *testing.T) {
	t.Parallel()
	s := base()
	for _, table := range model.FactTables() {
		s.Coverage = append(s.Coverage, model.Coverage{Table: table, Node: "n1", State: model.Complete})
	}
	f := follow(t, s, audit.Options{})
	f.judge(now, audit.Source{})
	f.put(podGone)
	f.judge(now+1, audit.Source{})
	src, asked := leaking(now + 6)
	if r := f.again(now+6, src); r != nil || asked.asked > 0 {
		t.Errorf("reread without its node: %v", names(r.Unconfirmed))
	}
	src.Nodes = &looks{answers: []observe.Reread{{}}}
	if r := f.again(now+6, src); r == nil || asked.asked == 0 {
		t.Error("not reread")
	}
}
