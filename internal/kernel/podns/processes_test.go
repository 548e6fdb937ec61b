//go:build linux

package podns

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestNumbersAreBounded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 12 {
		mustMake(t, filepath.Join(dir, strconv.Itoa(i)))
	}
	mustMake(t, filepath.Join(dir, "self"))
	mustMake(t, filepath.Join(dir, "1x"))
	if got, err := numbers(dir, 12); err != nil || len(got) != 12 {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := numbers(dir, 11); !errors.Is(err, errMany) || len(got) != 11 {
		t.Errorf("%q, %v", got, err)
	}
}

func mustMake(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
}

// TestProcessThatVanishedIsNoError: a directory without links is what is left of one.
func TestProcessThatVanishedIsNoError(t *testing.T) {
	t.Parallel()
	proc := t.TempDir()
	mustMake(t, proc+"/7")
	mustMake(t, proc+"/8/task/8")
	got, err := Namespaces(t.Context(), proc, t.TempDir())
	if err != nil || len(got) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestProcessThatCannotBeSeenIsSaid(t *testing.T) {
	t.Parallel()
	proc := t.TempDir()
	mustMake(t, proc+"/7/ns")
	if err := os.Symlink("net", proc+"/7/ns/net"); err != nil { // leads to itself: an error that is not "gone"
		t.Fatal(err)
	}
	if _, err := Namespaces(t.Context(), proc, t.TempDir()); !errors.Is(err, unix.ELOOP) {
		t.Error(err)
	}
}

// TestHostLinksStayInTheHost: /var/run is an absolute link on the host.
func TestHostLinksStayInTheHost(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	mustMake(t, root+"/var")
	mustMake(t, root+"/elsewhere/netns")
	if err := os.Symlink("/elsewhere", root+"/var/run"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(root+"/elsewhere/netns/x", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := os.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	d, err := inRoot(r, "/var/run/netns", unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if names, err := d.Readdirnames(-1); err != nil || len(names) != 1 || names[0] != "x" {
		t.Errorf("%q, %v", names, err)
	}
}

// TestStrandedThreadIsNotUsedAgain: nobody gets a thread that did not come home.
func TestStrandedThreadIsNotUsedAgain(t *testing.T) {
	t.Parallel()
	tid := 0
	err := visit(func(*visitor) error {
		tid = unix.Gettid()
		return errStranded
	})
	if !errors.Is(err, errStranded) {
		t.Fatal(err)
	}
	if tid == unix.Getpid() {
		t.Fatal("on the process's first thread, which cannot end")
	}
	for range 1000 {
		if _, err := os.Stat("/proc/self/task/" + strconv.Itoa(tid)); err != nil {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Error("the thread still lives")
}
