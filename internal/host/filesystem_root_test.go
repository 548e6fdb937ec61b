package host

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

const uidB = "bbbbbbbb-5146-11e9-b3b3-525400dd6f19"

// filesystem reads one as whoever plans does.
func (g ground) filesystem(t *testing.T, name string) Filesystem {
	t.Helper()
	f, err := g.host().Filesystem(t.Context(), name, "")
	if err != nil || f == nil {
		t.Fatalf("%s: %+v, %v", name, f, err)
	}
	return *f
}

// volume is where the kubelet has a volume of a pod's.
func (g ground) volume(pod, name string) string {
	return filepath.Join(g.dir, "kubelet/pods", pod, "volumes/x", name)
}

// waiter is a process that waits for an answer.
func waiter(t *testing.T, g ground, fs *hangfs) {
	t.Helper()
	spawn(t, "statfs "+fs.dir)
	t.Cleanup(func() { // else it cannot be killed
		_ = os.WriteFile(filepath.Join(g.sys, "fs/fuse/connections", itoa(fs.minor), "abort"), []byte("1"), 0o600)
	})
	waits(t, g, fs.minor, true)
}

// waits waits until somebody, or nobody, waits.
func waits(t *testing.T, g ground, minor int, somebody bool) {
	t.Helper()
	eventually(t, "requests", func() bool {
		b, err := os.ReadFile(filepath.Join(g.sys, "fs/fuse/connections", itoa(minor), "waiting"))
		return err == nil && (strings.TrimSpace(string(b)) != "0") == somebody
	})
}

// TestRootAbort: whoever waits for the one that is named goes on, and nobody else.
func TestRootAbort(t *testing.T) {
	inside(t, func(t *testing.T, g ground) {
		one, other := mountHang(t, filepath.Dir(g.volume(uidA, "one")), "one"), mountHang(t, g.dir, "other")
		h := g.host()
		defer h.Close()
		waiter(t, g, one)
		waiter(t, g, other)
		want := g.filesystem(t, "one")
		if !slices.Equal(want.Pods, []string{uidA}) || len(want.Points) != 1 || want.Points[0].Target != one.dir || want.Type != "fuse.hangtest" || want.Server == nil || want.Server.PID != 1 {
			t.Fatalf("%+v %+v", want, want.Server)
		}
		for name, c := range map[string]struct {
			f    Filesystem
			pods []string
			says string
		}{
			"a pod that nobody knew of": {want, []string{uidB}, uidA},
			"no pod is known":           {want, nil, uidA},
			"another source":            {with(want, func(f *Filesystem) { f.Source = "two" }), []string{uidA}, "has changed"},
			"another device":            {with(want, func(f *Filesystem) { f.Device = "0:" + itoa(other.minor) }), []string{uidA}, "has changed"},
			"a pod more than was seen":  {with(want, func(f *Filesystem) { f.Pods = []string{} }), nil, "has changed"},
			"another mount":             {with(want, func(f *Filesystem) { f.Points = []Point{{ID: 1, Target: one.dir}} }), []string{uidA}, "has changed"},
			"another server":            {with(want, func(f *Filesystem) { s := *f.Server; s.Start++; f.Server = &s }), []string{uidA}, "has changed"},
			"no server":                 {with(want, func(f *Filesystem) { f.Server = nil }), []string{uidA}, "has changed"},
			"no FUSE":                   {with(want, func(f *Filesystem) { f.Type = "nfs4" }), []string{uidA}, "is not a FUSE"},
			"no device":                 {with(want, func(f *Filesystem) { f.Device = "x" }), []string{uidA}, "is not a FUSE"},
		} {
			if begun, err := h.Abort(t.Context(), c.f, c.pods, false); begun || err == nil || !strings.Contains(err.Error(), c.says) || errors.Is(err, ErrGone) {
				t.Errorf("%s: %v, %v", name, begun, err)
			}
		}
		if begun, err := h.Abort(t.Context(), want, []string{uidA}, true); begun || err != nil {
			t.Errorf("dry: %v, %v", begun, err)
		}
		waits(t, g, one.minor, true)
		if begun, err := h.Abort(t.Context(), want, []string{uidA}, false); !begun || err != nil {
			t.Errorf("%v, %v", begun, err)
		}
		waits(t, g, one.minor, false)
		waits(t, g, other.minor, true)
		other.abort(t, g.sys)
		if err := unix.Unmount(one.dir, unix.MNT_DETACH); err != nil {
			t.Fatal(err)
		}
		eventually(t, "it to be gone", func() bool {
			begun, err := h.Abort(t.Context(), want, []string{uidA}, false)
			return !begun && errors.Is(err, ErrGone)
		})
	})
}

// TestRootAbortUsedElsewhere: a pod that has it in its own mount namespace only counts.
func TestRootAbortUsedElsewhere(t *testing.T) {
	inside(t, func(t *testing.T, g ground) {
		fs := mountHang(t, g.dir, "one")
		h := g.host()
		defer h.Close()
		before := g.filesystem(t, fs.dir)
		if len(before.Pods) != 0 {
			t.Fatalf("%+v", before)
		}
		at := g.volume(uidA, "bound")
		if err := os.MkdirAll(at, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := unix.Mount(fs.dir, at, "", unix.MS_BIND, ""); err != nil {
			t.Fatal(err)
		}
		ready := filepath.Join(g.dir, "ready")
		spawn(t, "keep-mounts "+ready)
		eventually(t, "the holder", func() bool { _, err := os.Stat(ready); return err == nil })
		if err := unix.Unmount(at, unix.MNT_DETACH); err != nil {
			t.Fatal(err)
		}
		now := g.filesystem(t, fs.dir)
		if !slices.Equal(now.Pods, []string{uidA}) || len(now.Points) != 1 {
			t.Fatalf("%+v", now)
		}
		for _, f := range []Filesystem{before, now} {
			if begun, err := h.Abort(t.Context(), f, nil, false); begun || err == nil {
				t.Errorf("%v, %v", begun, err)
			}
		}
		fs.abort(t, g.sys)
	})
}

func with(f Filesystem, change func(*Filesystem)) Filesystem {
	change(&f)
	return f
}

func itoa(n int) string { return strconv.Itoa(n) }
