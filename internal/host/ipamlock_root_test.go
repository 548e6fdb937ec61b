package host

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/observe"
)

// TestRootIPAMLock: who waits for the lock is counted while it waits; who has it, and who waits for another, is not.
func TestRootIPAMLock(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	h := New(Options{Root: root})
	defer h.Close()
	if _, err := h.IPAMLock(); !errors.Is(err, observe.ErrNotThere) {
		t.Errorf("no lock, and %v", err)
	}
	file := filepath.Join(root, ipamLock)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	lock := func(file string) *exec.Cmd {
		c := exec.CommandContext(t.Context(), "flock", file, "sleep", "60")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _, _ = c.Process.Kill(), c.Wait() })
		return c
	}
	becomes := func(want int) (l IPAMLock) {
		t.Helper()
		var err error
		for range 200 {
			if l, err = h.IPAMLock(); err == nil && l.Waiting == want {
				return l
			}
			time.Sleep(20 * time.Millisecond)
		}
		t.Fatalf("%d wait, want %d: %v", l.Waiting, want, err)
		return l
	}
	has := lock(file)
	becomes(0)
	for range 3 {
		lock(file)
	}
	lock(file + "2")
	lock(file + "2")
	becomes(3)
	time.Sleep(2100 * time.Millisecond)
	if l := becomes(3); l.Oldest < time.Second || l.Oldest > time.Minute {
		t.Errorf("the oldest has been running for %s", l.Oldest)
	}
	if err := exec.CommandContext(t.Context(), "pkill", "-P", itoa(has.Process.Pid)).Run(); err != nil { // its sleep has the lock too
		t.Fatal(err)
	}
	becomes(2)
}
