package controller

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"plumbline.dev/plumbline/api/v1alpha1"
	"plumbline.dev/plumbline/internal/controller/objects"
)

func object(name, severity string, count int64, last time.Time) v1alpha1.Finding {
	f := v1alpha1.Finding{Status: v1alpha1.FindingStatus{State: v1alpha1.StateConfirmed, Severity: severity, Count: count, LastSeen: metav1.NewTime(last)}}
	f.Name = name
	return f
}

func TestNext(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 18, 12, 0, 0, 0, time.UTC)
	const now = time.Hour
	list := func(all ...v1alpha1.Finding) []v1alpha1.Finding { return all }
	bare, foreign := object("a", "", 0, noon), object("a", "info", 1, noon)
	bare.Status, foreign.Spec.Code = v1alpha1.FindingStatus{}, "PL1001"
	for name, c := range map[string]struct {
		want, have []v1alpha1.Finding
		ago        time.Duration // that a was written; 0: by another leader
		job        string
	}{
		"nothing":                   {},
		"new":                       {want: list(object("a", "info", 1, noon)), job: "create a"},
		"the worse first":           {want: list(object("a", "info", 1, noon), object("b", "error", 1, noon)), job: "create b"},
		"as it should be":           {want: list(object("a", "info", 1, noon)), have: list(object("a", "info", 1, noon)), ago: time.Hour / 2},
		"seen again":                {want: list(object("a", "info", 1, noon.Add(9*time.Minute))), have: list(object("a", "info", 1, noon)), ago: time.Hour / 2},
		"seen again after a while":  {want: list(object("a", "info", 1, noon.Add(10*time.Minute))), have: list(object("a", "info", 1, noon)), ago: time.Hour / 2, job: "refresh a"},
		"more":                      {want: list(object("a", "info", 2, noon)), have: list(object("a", "info", 1, noon)), ago: time.Hour / 2, job: "update a"},
		"more, too early":           {want: list(object("a", "info", 2, noon)), have: list(object("a", "info", 1, noon)), ago: 59 * time.Second},
		"deleted, and again":        {want: list(object("a", "info", 2, noon)), ago: 59 * time.Second},
		"another leader's":          {want: list(object("a", "info", 2, noon)), have: list(object("a", "info", 1, noon)), job: "update a"},
		"new before changed":        {want: list(object("a", "error", 2, noon), object("b", "info", 1, noon)), have: list(object("a", "error", 1, noon)), job: "create b"},
		"no longer wanted":          {have: list(object("a", "info", 1, noon)), ago: time.Second, job: "delete a"},
		"created, without a status": {want: list(object("a", "info", 1, noon)), have: list(bare), ago: time.Second, job: "update a"},
		"another spec":              {want: list(object("a", "info", 1, noon)), have: list(foreign), job: "delete a"},
	} {
		q := newQueue(c.have)
		if c.ago > 0 {
			q.done("a", now-c.ago)
		}
		got := ""
		if j, ok := q.next(c.want, now); ok {
			got = fmt.Sprintf("%s %s", j.action, j.object.Name)
		}
		if got != c.job {
			t.Errorf("%s: %q, want %q", name, got, c.job)
		}
	}
}

// TestRefusedWrite: a write that is refused does not stop the others, and is tried again later each time.
func TestRefusedWrite(t *testing.T) {
	t.Parallel()
	q := newQueue(nil)
	want := []v1alpha1.Finding{object("a", "error", 1, time.Time{}), object("b", "info", 1, time.Time{})}
	tries := map[string]int{}
	for now := time.Duration(0); now < time.Hour; now += time.Second {
		if j, ok := q.next(want, now); ok {
			tries[j.object.Name]++
			if j.object.Name == "b" {
				q.have["b"] = j.object
				q.done("b", now)
				continue
			}
			q.failed("a", now)
		}
	}
	if tries["b"] != 1 || tries["a"] < 10 || tries["a"] > 30 {
		t.Errorf("tried %v times within an hour", tries)
	}
}

// TestRoom: there are never more objects than there may be.
func TestRoom(t *testing.T) {
	t.Parallel()
	var want, have []v1alpha1.Finding
	for i := range v1alpha1.MaxFindings {
		want, have = append(want, object(fmt.Sprintf("new-%d", i), "error", 1, time.Time{})), append(have, object(fmt.Sprintf("old-%d", i), "info", 1, time.Time{}))
	}
	q := newQueue(have)
	for i := time.Duration(0); ; i++ {
		j, ok := q.next(want, i*betweenWrites)
		if !ok {
			break
		}
		if j.action == remove {
			delete(q.have, j.object.Name)
		} else {
			q.have[j.object.Name] = j.object
		}
		q.done(j.object.Name, i*betweenWrites)
		if len(q.have) > v1alpha1.MaxFindings {
			t.Fatalf("%d objects", len(q.have))
		}
	}
	for _, w := range want {
		if _, there := q.have[w.Name]; !there || len(q.have) != len(want) {
			t.Fatalf("%s is missing among %d", w.Name, len(q.have))
		}
	}
}

// TestNews: each state is told once, when it is stored, and at most once a minute.
func TestNews(t *testing.T) {
	t.Parallel()
	a := object("a", "error", 1, time.Time{})
	n := newNews(nil)
	have := map[string]v1alpha1.Finding{}
	events := 0
	turn := func(state string, stored bool, now time.Duration) {
		n.take([]objects.Transition{{Object: "a", State: state}}, []v1alpha1.Finding{a})
		if stored {
			f := a
			f.Status.State = state
			have["a"] = f
		}
		if e, ok := n.next(have, now); ok {
			events++
			n.done(e, now)
		}
	}
	turn("Confirmed", false, time.Minute)
	if events != 0 {
		t.Error("told before it is stored")
	}
	turn("Confirmed", true, time.Minute)
	for i := range 50 { // it comes and goes between two writes
		turn("Resolved", false, time.Minute+time.Duration(i)*time.Second)
		turn("Confirmed", false, time.Minute+time.Duration(i)*time.Second)
	}
	if events != 1 {
		t.Errorf("%d Events about an object that did not change", events)
	}
	turn("Resolved", true, 3*time.Minute)
	if events != 2 {
		t.Errorf("%d Events", events)
	}
	next := newNews([]v1alpha1.Finding{have["a"]})
	next.take([]objects.Transition{{Object: "a", State: "Resolved"}}, []v1alpha1.Finding{a})
	if _, ok := next.next(have, time.Hour); ok {
		t.Error("the next leader tells it again")
	}
}

// TestSame: an object that was read is the same as the one that was written, in any time zone.
func TestSame(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 18, 12, 0, 0, 0, time.UTC)
	a, b := object("a", "info", 1, at), object("a", "info", 1, at.Add(time.Minute))
	east := at.In(time.FixedZone("east", 9*3600))
	a.Status.FirstSeen, b.Status.FirstSeen = metav1.NewTime(at), metav1.NewTime(east)
	a.Status.Samples, b.Status.Samples = []v1alpha1.FindingSample{{Subject: "x", Since: metav1.NewTime(at)}}, []v1alpha1.FindingSample{{Subject: "x", Since: metav1.NewTime(east)}}
	if !same(&a.Status, &b.Status) {
		t.Error("they differ")
	}
	b.Status.Samples[0].Message = "other"
	if same(&a.Status, &b.Status) {
		t.Error("another message makes no difference")
	}
}
