package record

import (
	"errors"
	"testing"

	"plumbline.dev/plumbline/internal/guard"
)

func TestQueue(t *testing.T) {
	b, _ := opened(t)
	for _, l := range []guard.Later{{Call: guard.Call{Container: "b"}, At: 8}, {Call: guard.Call{Container: "a"}, At: 9}, {Call: guard.Call{Container: "b"}, At: 7, Why: "more"}} {
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
	for i, l := range []guard.Later{old, got[0], got[0]} {
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
	if err := b.End(first); !errors.Is(err, ErrReplaced) {
		t.Error(err)
	}
	second.State = guard.Deleted
	if err := b.End(second); err != nil {
		t.Error(err)
	}
	second.State = guard.Added
	if err := b.End(second); !errors.Is(err, ErrReplaced) {
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
	l := guard.Later{Call: guard.Call{Network: "net", Container: "a", IfName: "eth0", Namespace: "ns", Pod: "web"}}
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
