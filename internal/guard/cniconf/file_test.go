package cniconf

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// place writes a file and names it, with little patience.
func place(t testing.TB, text string) *File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "10-calico.conflist")
	write(t, path, text)
	f := NewFile(path, "n")
	f.settle, f.shown = 100*time.Microsecond, 5*time.Millisecond
	return f
}

func guarded(t testing.TB, text string) string {
	t.Helper()
	out, changed, err := patch([]byte(text), Guard)
	if err != nil || !changed {
		t.Fatalf("%t, %v", changed, err)
	}
	return string(out)
}

func text(t testing.TB, f *File) string {
	t.Helper()
	raw, err := os.ReadFile(f.path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// alone tells that nothing lies beside the file.
func alone(t testing.TB, f *File) {
	t.Helper()
	if all, err := os.ReadDir(filepath.Dir(f.path)); err != nil || len(all) != 1 {
		t.Errorf("%v: %v", err, all)
	}
}

func yes(context.Context) (bool, string, error) { return true, "", nil }
func no(context.Context) (bool, string, error)  { return false, "it has another", nil }
func blind(context.Context) (bool, string, error) {
	return false, "", errors.New("CRI does not answer")
}

// once answers once, and then no more.
func once(answer Loaded) Loaded {
	asked := false
	return func(ctx context.Context) (bool, string, error) {
		if !asked {
			asked = true
			return answer(ctx)
		}
		<-ctx.Done()
		return false, "", ctx.Err()
	}
}

func TestInstallAndRemove(t *testing.T) {
	t.Parallel()
	f := place(t, plain)
	for range 3 {
		if changed, err := Install(t.Context(), f, yes); err != nil || !changed || text(t, f) != guarded(t, plain) {
			t.Fatalf("%t, %v: %s", changed, err, text(t, f))
		}
		if changed, err := Install(t.Context(), f, yes); err != nil || changed {
			t.Fatalf("%t, %v", changed, err)
		}
		if state, why := f.State(); state != Patched || why != "" {
			t.Fatalf("%s, %s", state, why)
		}
		if changed, err := Remove(t.Context(), f); err != nil || !changed || text(t, f) != plain {
			t.Fatalf("%t, %v: %s", changed, err, text(t, f))
		}
		if changed, err := Remove(t.Context(), f); err != nil || changed {
			t.Fatalf("%t, %v", changed, err)
		}
		alone(t, f)
	}
}

func TestNotLoadedIsPutBack(t *testing.T) {
	t.Parallel()
	cancelled, cancel := context.WithCancel(t.Context())
	stopped, stop := context.WithCancel(t.Context())
	for name, c := range map[string]struct {
		ctx    context.Context
		before string
		loaded Loaded
		after  string
		want   string
	}{
		"the runtime does not":     {t.Context(), plain, no, plain, "it has another"},
		"not to be seen":           {t.Context(), plain, blind, plain, "CRI does not answer"},
		"cancelled":                {cancelled, plain, func(context.Context) (bool, string, error) { cancel(); return false, "not yet", nil }, plain, "not yet"},
		"it hangs":                 {t.Context(), plain, func(ctx context.Context) (bool, string, error) { <-ctx.Done(); return false, "", ctx.Err() }, plain, "deadline"},
		"found patched, cancelled": {stopped, guarded(t, plain), func(ctx context.Context) (bool, string, error) { stop(); return no(ctx) }, guarded(t, plain), "it has another"},
		"no, and then it hangs":    {t.Context(), guarded(t, plain), once(no), plain, "it has another"},
		"found patched":            {t.Context(), guarded(t, plain), no, plain, "it has another"},
		"found patched, and blind": {t.Context(), guarded(t, plain), blind, guarded(t, plain), "CRI does not answer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := place(t, c.before)
			before, err := f.disk.read(f.path)
			if err != nil {
				t.Fatal(err)
			}
			changed, err := Install(c.ctx, f, c.loaded)
			if changed || err == nil || !strings.Contains(err.Error(), c.want) || text(t, f) != c.after {
				t.Errorf("%t, %v: %s", changed, err, text(t, f))
			}
			if c.before == c.after && c.before != plain && strings.Contains(err.Error(), "removed from") {
				t.Errorf("it was not: %v", err)
			}
			if after, err := f.disk.read(f.path); err != nil || c.before == plain && after.ino != before.ino {
				t.Errorf("%v: it is not the very file", err)
			}
			alone(t, f)
		})
	}
}

func TestLateLoadIsWaitedFor(t *testing.T) {
	t.Parallel()
	f := place(t, plain)
	f.shown = shown
	asked := 0
	changed, err := Install(t.Context(), f, func(ctx context.Context) (bool, string, error) {
		if asked++; asked == 2 {
			return blind(ctx)
		}
		return asked == 4, "not yet", nil
	})
	if err != nil || !changed || asked != 4 {
		t.Errorf("%t, %v after %d", changed, err, asked)
	}
}

// What install-cni writes is truncated first (F11).
func TestHalfWrittenBaseIsWaitedOut(t *testing.T) {
	t.Parallel()
	f := place(t, plain[:20])
	f.settle = settle
	if state, why := f.State(); state != Broken || !strings.Contains(why, "unexpected end") {
		t.Errorf("%s, %s", state, why)
	}
	time.AfterFunc(300*time.Millisecond, func() { _ = os.WriteFile(f.path, []byte(plain), 0o600) })
	if changed, err := Install(t.Context(), f, yes); err != nil || !changed || text(t, f) != guarded(t, plain) {
		t.Errorf("%t, %v: %s", changed, err, text(t, f))
	}
	for name, broken := range map[string]string{"truncated": plain[:30], "empty": ""} {
		f := place(t, broken)
		f.written = 20 * time.Millisecond
		if changed, err := Install(t.Context(), f, yes); changed || !errors.Is(err, errBroken) || text(t, f) != broken {
			t.Errorf("%s: %t, %v", name, changed, err)
		}
		if changed, err := Remove(t.Context(), f); changed || !errors.Is(err, errBroken) || text(t, f) != broken {
			t.Errorf("%s: %t, %v", name, changed, err)
		}
		alone(t, f)
	}
}

// A base that changes all the time is never believed.
func TestRestlessBaseIsLeftAlone(t *testing.T) {
	t.Parallel()
	f := place(t, plain)
	f.written = 50 * time.Millisecond
	n := 0
	f.disk = &observed{disk: f.disk, before: func(call string) {
		if n++; call == "read" {
			write(t, f.path, plain+strings.Repeat(" ", n))
		}
	}}
	if changed, err := Install(t.Context(), f, yes); changed || err == nil || !strings.Contains(err.Error(), "being changed") {
		t.Errorf("%t, %v", changed, err)
	}
	if strings.Contains(text(t, f), Guard) {
		t.Error("patched")
	}
}

func TestOnlyTheLoadedFileIsTouched(t *testing.T) {
	t.Parallel()
	f := place(t, plain)
	dir := filepath.Dir(f.path)
	refused := func(want string) {
		t.Helper()
		before := text(t, f)
		if changed, err := Install(t.Context(), f, yes); changed || err == nil || !strings.Contains(err.Error(), want) || text(t, f) != before {
			t.Errorf("%t, %v", changed, err)
		}
	}
	f.loaded = "other"
	refused(`configures network "n"`)
	if state, why := f.State(); state != Foreign || !strings.Contains(why, `configures network "n"`) {
		t.Errorf("%s, %s", state, why)
	}
	f.loaded = "n"
	if _, err := Install(t.Context(), f, yes); err != nil {
		t.Fatal(err)
	}
	before := filepath.Join(dir, "05-copy.conflist")
	write(t, before, plain)
	refused("the runtime loads " + before)
	write(t, filepath.Join(dir, "00-multus.conf"), `{"name":"m","type":"multus"}`)
	refused("00-multus.conf")
	if state, why := f.State(); state != Patched || !strings.Contains(why, "00-multus.conf") {
		t.Errorf("%s, %s", state, why)
	}
	if changed, err := Remove(t.Context(), f); err != nil || !changed || text(t, f) != plain {
		t.Errorf("%t, %v: what is not loaded any more stays patched", changed, err)
	}
}
