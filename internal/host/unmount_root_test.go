package host

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestRootUnmount: one mount goes, by its number, and it is proven that nothing is left.
func TestRootUnmount(t *testing.T) {
	inside(t, func(t *testing.T, g ground) {
		fs := mountHang(t, filepath.Dir(g.volume(uidA, "one")), "one")
		bound := g.volume(uidB, "one")
		if err := os.MkdirAll(bound, 0o755); err != nil {
			t.Fatal(err)
		}
		bind := func(from, to string) {
			t.Helper()
			if err := unix.Mount(from, to, "", unix.MS_BIND, ""); err != nil {
				t.Fatal(err)
			}
		}
		bind(fs.dir, bound)
		h := g.host()
		defer h.Close()
		waiter(t, g, fs)
		want := g.filesystem(t, "one")
		if len(want.Points) != 2 || len(want.Pods) != 2 {
			t.Fatalf("%+v", want)
		}
		both := []string{uidA, uidB}
		for name, c := range map[string]struct {
			f      Filesystem
			target string
			pods   []string
			says   string
		}{
			"of a pod that nobody knew of": {want, bound, []string{uidA}, uidB},
			"not mounted there":            {want, g.dir + "/x", both, "gone"},
			"another mount":                {with(want, func(f *Filesystem) { f.Points = slices.Clone(f.Points); f.Points[1].ID++ }), bound, both, "not what it was"},
		} {
			if begun, err := h.Unmount(t.Context(), c.f, c.target, c.pods, false); begun || err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %v, %v", name, begun, err)
			}
		}
		if begun, err := h.Unmount(t.Context(), want, bound, []string{uidB}, true); begun || err != nil {
			t.Errorf("dry: %v, %v", begun, err)
		}
		// What else is there would go, or come to light.
		bind(g.dir, bound)
		if begun, err := h.Unmount(t.Context(), g.filesystem(t, "one"), bound, both, false); begun || err == nil || !strings.Contains(err.Error(), "as well") {
			t.Errorf("something lies on it: %v, %v", begun, err)
		}
		// The child itself compares, too.
		if code, err := h.unmounter(t.Context(), &want.Points[1], false); err != nil || code != unmountRefused {
			t.Errorf("the child: %d, %v", code, err)
		}
		if err := unix.Unmount(bound, 0); err != nil {
			t.Fatal(err)
		}
		if !g.has(t, bound) || !g.has(t, fs.dir) {
			t.Fatal("a mount is gone")
		}
		began := time.Now() //nolint:forbidigo // a test measures
		if begun, err := h.Unmount(t.Context(), want, bound, []string{uidB}, false); !begun || err != nil {
			t.Errorf("%v, %v", begun, err)
		}
		t.Logf("took %s", time.Since(began))
		if g.has(t, bound) || !g.has(t, fs.dir) {
			t.Error("not the one that was named")
		}
		waits(t, g, fs.minor, true) // whoever waits goes on waiting: that is not what it is for
		if begun, err := h.Unmount(t.Context(), want, bound, both, false); begun || err == nil {
			t.Errorf("again: %v, %v", begun, err)
		}
		now := g.filesystem(t, "one")
		if begun, err := h.Unmount(t.Context(), now, fs.dir, both, false); !begun || err != nil || g.has(t, fs.dir) {
			t.Errorf("with one who waits in it: %v, %v", begun, err)
		}
		fs.abort(t, g.sys)
	})
}

// TestRootUnmountBelow: a mount below it would go with it.
func TestRootUnmountBelow(t *testing.T) {
	inside(t, func(t *testing.T, g ground) {
		fs := mountHang(t, g.dir, "one")
		want := g.filesystem(t, "one")
		p := want.Points[0]
		for says, other := range map[string]Point{
			"as well": {ID: 9999, Target: p.Target}, "below": {ID: 9999, Target: p.Target + "/x"},
			"may hang": {ID: 9999, Target: g.dir, kind: "nfs4"},
		} {
			if err := standsOn([]Point{p, other}, &p); err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %v", says, err)
			}
		}
		if err := standsOn([]Point{p, {ID: 9999, Target: p.Target + "x", kind: "nfs"}, {ID: 1, Target: "/", kind: "ext4"}}, &p); err != nil {
			t.Error(err)
		}
		fs.abort(t, g.sys)
	})
}
