package ownerdb

import (
	"errors"
	"testing"

	"plumbline.dev/plumbline/internal/guard"
)

func TestQueue(t *testing.T) {
	b, _ := opened(t)
	for _, l := range []guard.QueuedDel{{Call: guard.Call{Container: "b"}, At: 8}, {Call: guard.Call{Container: "a"}, At: 9}, {Call: guard.Call{Container: "b"}, At: 7, Why: "more"}} {
		if err := b.Queue(l); err != nil {
			t.Fatal(err)
		}
	}
	got, err := b.Queued()
	if err != nil || len(got) != 2 || got[0].Container != "b" || got[0].At != 8 || got[0].Why != "more" || got[1].Container != "a" {
		t.Fatalf("%+v, %v", got, err)
	}
	old := got[0]
	old.At-- // it was queued again since
	for i, l := range []guard.QueuedDel{old, got[0], got[0]} {
		if err := b.Replayed(l); err != nil {
			t.Fatal(err)
		}
		if left, err := b.Queued(); err != nil || len(left) != []int{2, 1, 1}[i] {
			t.Fatalf("%d: %+v, %v", i, left, err)
		}
	}
	if err := b.Unqueue(got[1].Key()); err != nil {
		t.Fatal(err)
	}
	if left, err := b.Queued(); err != nil || len(left) != 0 {
		t.Fatalf("%+v, %v", left, err)
	}
}

// TestReplaced: an ADD that ends after another has begun, or after its DEL, changes
// nothing.
func TestReplaced(t *testing.T) {
	b, _ := opened(t)
	first, err := b.Begin(attachment("a", "web"))
	if err != nil {
		t.Fatal(err)
	}
	second, err := b.Begin(attachment("a", "web"))
	if err != nil || !second.Again || second.Seq <= first.Seq {
		t.Fatalf("%+v, %v", second, err)
	}
	first.State = guard.Added
	if err := b.End(first); !errors.Is(err, errReplaced) {
		t.Error(err)
	}
	second.State = guard.Deleted
	if err := b.End(second); err != nil {
		t.Error(err)
	}
	second.State = guard.Added
	if err := b.End(second); !errors.Is(err, errReplaced) {
		t.Error(err)
	}
	if n, err := b.Newest(second.Name()); n != nil || err != nil {
		t.Errorf("%+v, %v", n, err)
	}
}

// TestAddedAgain: a second ADD owes nothing for the first, and is not forgotten for it.
func TestAddedAgain(t *testing.T) {
	b, _ := opened(t)
	first, err := b.Begin(attachment("a", "web"))
	if err != nil {
		t.Fatal(err)
	}
	l := guard.QueuedDel{Call: guard.Call{Network: "net", Container: "a", IfName: "eth0", Namespace: "ns", Pod: "web"}}
	if err := b.Queue(l); err != nil {
		t.Fatal(err)
	}
	second, err := b.Begin(attachment("a", "web"))
	if err != nil {
		t.Fatal(err)
	}
	if left, err := b.Queued(); err != nil || len(left) != 0 {
		t.Errorf("%+v, %v", left, err)
	}
	if err := b.forget(&first); err != nil {
		t.Error(err)
	}
	if o, err := b.Owner(second.Key); err != nil || o == nil || o.Seq != second.Seq {
		t.Errorf("%+v, %v", o, err)
	}
}

// What is put off waits twice as long each time; what was queued again since is left alone.
func TestPostpone(t *testing.T) {
	b, _ := opened(t)
	first := guard.QueuedDel{Call: guard.Call{Container: "a", Pod: "web"}, At: 5}
	if err := b.Queue(first); err != nil {
		t.Fatal(err)
	}
	l := first
	for i, want := range []int64{60, 120, 240, 480, 960, 1800, 1800, 1800} {
		if !b.IsQueued(l) {
			t.Fatalf("%+v is not owed", l)
		}
		if err := b.Postpone(l, i == 1, 1000); err != nil {
			t.Fatal(err)
		}
		got, err := b.Queued()
		if err != nil || len(got) != 1 || got[0].At != 1000+want || got[0].Tries != i+1 || got[0].Rest != (i > 0) {
			t.Fatalf("%+v, %v", got, err)
		}
		l = got[0]
	}
	// One that was put off is not what a new one has to wait for.
	again := guard.QueuedDel{Call: l.Call, At: 7}
	if err := errors.Join(b.Queue(again), b.Postpone(l, true, 2000), b.Replayed(l)); err != nil {
		t.Fatal(err)
	}
	if got, err := b.Queued(); err != nil || len(got) != 1 || got[0] != again || b.IsQueued(l) {
		t.Fatalf("%+v, %v", got, err)
	}
}

// The deleters of a name are bounded, and a new ADD keeps them.
func TestDeleters(t *testing.T) {
	b, _ := opened(t)
	n := guard.Name{Network: "net", Namespace: "ns", Pod: "web", IfName: "eth0"}
	for i := range 2 * maxDeleters {
		if err := errors.Join(b.Deleting(n, Deleter{"a", i, 1}), b.Deleting(n, Deleter{"a", i, 1})); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.Begin(attachment("b", "web")); err != nil {
		t.Fatal(err)
	}
	got, err := b.Deleters(n)
	if err != nil || len(got) != maxDeleters || got[maxDeleters-1] != (Deleter{"a", 2*maxDeleters - 1, 1}) {
		t.Errorf("%+v, %v", got, err)
	}
	if newest, err := b.Newest(n); err != nil || newest == nil || newest.Container != "b" {
		t.Errorf("%+v, %v", newest, err)
	}
	if got, err := b.Deleters(guard.Name{Pod: "other"}); err != nil || len(got) > 0 {
		t.Errorf("%+v, %v", got, err)
	}
	if err := b.Deleting(guard.Name{Network: "net"}, Deleter{"a", 1, 1}); err != nil {
		t.Error(err)
	}
}
