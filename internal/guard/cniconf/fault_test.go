package cniconf

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// observed tells of every call before it is made, and after.
type observed struct {
	disk
	before func(call string)
	after  func(call string)
	fails  func(call string) (skip bool, err error)
}

// do makes a call, unless it is to fail.
func (o *observed) do(call string, real func() error) error {
	if o.before != nil {
		o.before(call)
	}
	var skip bool
	var err error
	if o.fails != nil {
		skip, err = o.fails(call)
	}
	if !skip {
		err = errors.Join(real(), err)
	}
	if o.after != nil {
		o.after(call)
	}
	return err
}

func (o *observed) read(path string) (out *image, err error) {
	err = o.do("read", func() error { out, err = o.disk.read(path); return err })
	if err != nil {
		out = nil
	}
	return out, err
}

func (o *observed) create(path string) (out draft, err error) {
	err = o.do("create", func() error { out, err = o.disk.create(path); return err })
	return &observedDraft{out, o}, err
}

func (o *observed) exchange(a, b string) error {
	return o.do("exchange", func() error { return o.disk.exchange(a, b) })
}

func (o *observed) remove(path string) error {
	return o.do("remove", func() error { return o.disk.remove(path) })
}

func (o *observed) syncDir(dir string) error {
	return o.do("syncDir", func() error { return o.disk.syncDir(dir) })
}

type observedDraft struct {
	draft
	o *observed
}

func (d *observedDraft) write(raw []byte) error {
	half := d.o.do("write", func() error { return d.draft.write(raw[:len(raw)/2]) })
	return errors.Join(half, d.o.do("write", func() error { return d.draft.write(raw[len(raw)/2:]) }))
}

func (d *observedDraft) dress(like *image) error {
	return d.o.do("dress", func() error { return d.draft.dress(like) })
}
func (d *observedDraft) sync() error  { return d.o.do("sync", d.draft.sync) }
func (d *observedDraft) close() error { return d.o.do("close", d.draft.close) }

var errInjected = errors.New("injected")

// Four ways to fail at the n-th call: without and with effect, and the same for good, which
// is what a kill at that point leaves on the disk.
type fault struct {
	n      int
	effect bool
	killed bool
}

func (x fault) at(n *int) func(string) (bool, error) {
	return func(string) (bool, error) {
		*n++
		switch {
		case *n == x.n:
			return !x.effect, errInjected
		case *n > x.n && x.killed:
			return true, errInjected
		}
		return false, nil
	}
}

// runs are all ways through Install and Remove.
func runs(t *testing.T) map[string]struct {
	before, after string
	run           func(f *File) (bool, error)
} {
	t.Helper()
	patched := guarded(t, plain)
	with := func(loaded Loaded) func(f *File) (bool, error) {
		return func(f *File) (bool, error) { return Install(t.Context(), f, loaded) }
	}
	return map[string]struct {
		before, after string
		run           func(f *File) (bool, error)
	}{
		"install":      {plain, patched, with(yes)},
		"not loaded":   {plain, plain, with(no)},
		"found":        {patched, patched, with(yes)},
		"found unused": {patched, plain, with(no)},
		"remove":       {patched, plain, func(f *File) (bool, error) { return Remove(t.Context(), f) }},
	}
}

// Whatever fails, at whatever step, the file is what it was or what it was to be, at
// every moment, and the next attempt succeeds.
func TestEveryFault(t *testing.T) {
	t.Parallel()
	for name, c := range runs(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			total := 0
			f := place(t, c.before)
			f.disk = &observed{disk: f.disk, fails: func(string) (bool, error) { total++; return false, nil }}
			_, _ = c.run(f)
			if text(t, f) != c.after {
				t.Fatalf("without a fault: %s", text(t, f))
			}
			if total < 2 || total < 15 && name != "found" {
				t.Fatalf("only %d calls", total)
			}
			for n := 1; n <= total; n++ {
				for _, x := range []fault{{n, false, false}, {n, true, false}, {n, false, true}, {n, true, true}} {
					oneFault(t, c.before, c.after, x, c.run)
				}
			}
			t.Logf("%d calls, %d faults", total, 4*total)
		})
	}
}

func oneFault(t *testing.T, before, after string, x fault, run func(f *File) (bool, error)) {
	t.Helper()
	f := place(t, before)
	disk, n := f.disk, 0
	f.disk = &observed{disk: disk, fails: x.at(&n), after: func(call string) {
		if now := text(t, f); now != plain && now != guarded(t, plain) {
			t.Fatalf("%+v: after %s it is %q", x, call, now)
		}
	}}
	changed, err := run(f)
	now := text(t, f)
	if err == nil && now != after || changed && now != after {
		t.Errorf("%+v: changed %t, %v, and it is %q", x, changed, err, now)
	}
	// A single fault is repaired at once, unless it hits the repair, and then that is said.
	if !x.killed && before != after && !changed && err != nil && now != before && !strings.Contains(err.Error(), "the runtime does not") {
		t.Errorf("%+v: %v, and it is %q", x, err, now)
	}
	if !x.killed && before == after && now != before && !strings.Contains(err.Error(), "put back "+f.path+": ") {
		t.Errorf("%+v: not put back, and not said: %v", x, err)
	}
	if st, err := os.Stat(f.path); err != nil || st.Mode() != 0o600 {
		t.Errorf("%+v: %v", x, err)
	}
	if path, err := Effective(f.dirs, "n"); err != nil || path != f.path {
		t.Errorf("%+v: a runtime would see %s, %v", x, path, err)
	}
	if all, err := os.ReadDir(filepath.Dir(f.path)); err != nil || len(all) > 2 || configures(f.beside()) {
		t.Errorf("%+v: %v, %v", x, all, err)
	}
	f.disk = disk
	if _, err := run(f); text(t, f) != after && (before != plain || after != plain) {
		t.Errorf("%+v: the next attempt: %v, %q", x, err, text(t, f))
	}
	if _, err := Remove(t.Context(), f); err != nil || text(t, f) != plain {
		t.Errorf("%+v: then removed: %v", x, err)
	}
	if _, err := Install(t.Context(), f, yes); err != nil {
		t.Errorf("%+v: %v", x, err)
	}
	alone(t, f)
}
