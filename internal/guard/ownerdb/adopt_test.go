package ownerdb

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"plumbline.dev/plumbline/internal/guard"
)

// TestAdopt: an attachment from before the guard is on record as any other, and a later ADD
// of its name makes it the older.
func TestAdopt(t *testing.T) {
	b, _ := opened(t)
	old := attachment("old", "web")
	old.PID, old.Start, old.Again, old.State = 7, 8, true, guard.Adding
	for i, want := range []bool{true, false} { // the second time it is there
		if got, err := b.Adopt(old); err != nil || got != want {
			t.Fatalf("%d: %t, %v", i, got, err)
		}
	}
	was, err := b.Owner(old.Key)
	if err != nil || was == nil || was.State != guard.Added || was.PID != 0 || was.Again || was.Seq == 0 {
		t.Fatalf("%+v, %v", was, err)
	}
	if n, err := b.Newest(old.Name()); err != nil || n == nil || n.Container != "old" {
		t.Fatalf("%+v, %v", n, err)
	}
	next, err := b.Begin(attachment("new", "web"))
	if err != nil || next.Seq <= was.Seq || next.Again {
		t.Fatalf("%+v, %v", next, err)
	}
	older, err := b.Older(old.Name())
	if err != nil || len(older) != 1 || older[0].Container != "old" {
		t.Fatalf("%+v, %v", older, err)
	}
	sane(t, b)
	for _, bad := range []guard.Owner{attachment("x", ""), attachment("", "x"), attachment("y", string(make([]byte, 600)))} {
		if got, err := b.Adopt(bad); err == nil || got {
			t.Errorf("%.20q is adopted", bad.Container)
		}
	}
}

// TestAdoptAlone: whoever of the name was on record, in any state, and whatever cannot be
// read, leaves nobody to be adopted.
func TestAdoptAlone(t *testing.T) {
	for name, before := range map[string]func(b *DB, m *model) error{
		"adding":  func(b *DB, _ *model) error { _, err := b.Begin(attachment("other", "web")); return err },
		"deleted": func(b *DB, _ *model) error { return ended(b, "other", guard.Deleted) },
		"failed":  func(b *DB, _ *model) error { return ended(b, "other", guard.Failed) },
		"deleted, and the index is swept": func(b *DB, _ *model) error {
			return errors.Join(ended(b, "other", guard.Deleted), b.sweep())
		},
		"its ADD could not be recorded": func(b *DB, m *model) error {
			o, err := b.Begin(attachment("other", "web"))
			delete(m.data, ownerOf(o.Key))
			return err
		},
		"the index is corrupt": func(_ *DB, m *model) error {
			o := attachment("other", "web")
			m.data[indexOf(o.Name())] = []byte("x")
			return nil
		},
		"its own record is corrupt": func(_ *DB, m *model) error {
			m.data[ownerOf(attachment("old", "web").Key)] = []byte("x")
			return nil
		},
		"a DEL is owed": func(b *DB, _ *model) error {
			o := attachment("old", "web")
			return b.Queue(guard.QueuedDel{Call: guard.Call{Verb: guard.Del, Network: o.Network, Container: o.Container, IfName: o.IfName, Namespace: o.Namespace, Pod: o.Pod}})
		},
		"it is on record under another name": func(b *DB, _ *model) error { _, err := b.Begin(attachment("old", "cron")); return err },
		"deleted itself":                     func(b *DB, _ *model) error { return ended(b, "old", guard.Deleted) },
	} {
		m := newModel()
		b := &DB{m, "boot"}
		if err := before(b, m); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got, _ := b.Adopt(attachment("old", "web")); got {
			t.Errorf("%s: adopted", name)
		}
		if got, err := b.Adopt(attachment("else", "db")); !got || err != nil { // another name is another matter
			t.Errorf("%s: %t, %v", name, got, err)
		}
	}
	m := newModel()
	if _, err := (&DB{m, "before"}).Begin(attachment("other", "web")); err != nil {
		t.Fatal(err)
	}
	if got, err := (&DB{m, "boot"}).Adopt(attachment("old", "web")); !got || err != nil {
		t.Errorf("another boot's record: %t, %v", got, err)
	}
}

func ended(b *DB, container string, state guard.State) error {
	o, err := b.Begin(attachment(container, "web"))
	o.State = state
	return errors.Join(err, b.End(o))
}

// TestAdoptKilled: killed at any instruction, it is on record whole or not at all, and the
// next ADD of its name is the newer.
func TestAdoptKilled(t *testing.T) {
	for kill := 1; ; kill++ {
		m := newModel()
		m.kill = kill
		done := alive(func() { _, _ = (&DB{m, "boot"}).Adopt(attachment("old", "web")) })
		for forget := range 4 {
			b := &DB{m.after(forget), "boot"}
			sane(t, b)
			next, err := b.Begin(attachment("new", "web"))
			if err != nil {
				t.Fatalf("kill %d: %v", kill, err)
			}
			if o, err := b.Owner(attachment("old", "web").Key); err != nil || o != nil && o.Seq >= next.Seq {
				t.Fatalf("kill %d: %+v, %v", kill, o, err)
			}
			sane(t, b)
		}
		if done {
			if kill < 8 {
				t.Errorf("only %d instructions", kill)
			}
			return
		}
	}
}

// TestAdoptFull: on a full disk it is not adopted, and says so.
func TestAdoptFull(t *testing.T) {
	m := newModel()
	m.full = 1
	if got, err := (&DB{m, "boot"}).Adopt(attachment("old", "web")); got || err == nil {
		t.Errorf("%t, %v", got, err)
	}
}

// TestAdoptRace: while an ADD of the name comes, either the ADD is the newer, or nobody is
// adopted.
func TestAdoptRace(t *testing.T) {
	b, _ := opened(t)
	var all sync.WaitGroup
	for i := range 50 {
		pod := fmt.Sprintf("web%d", i)
		all.Go(func() { _, _ = b.Adopt(attachment("old-"+pod, pod)) })
		all.Go(func() {
			err := patient(func() error {
				_, err := b.Begin(attachment("new-"+pod, pod))
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for i := range 50 {
		pod := fmt.Sprintf("web%d", i)
		o := attachment("", pod)
		if n, err := b.Newest(o.Name()); err != nil || n == nil || n.Container != "new-"+pod {
			t.Errorf("%s: %+v, %v", pod, n, err)
		}
	}
	sane(t, b)
}
