//go:build linux

package podns

import (
	"errors"
	"os"
	"strconv"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"plumbline.dev/plumbline/internal/hostfile"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

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
	if inode, err := pinnedBy(hostfile.Root(root), "/var/run/netns/x"); err != nil || inode != 0 {
		t.Errorf("%d, %v", inode, err)
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
