package host

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

const insideVariable = "PLUMBLINE_HOST_TEST_INSIDE"

// A machine of our own: PID and mount namespaces in which the test is the first process.
// What it mounts, and whoever hangs in it, ends with it.
type ground struct{ dir, proc, sys string }

// inside runs the test in such a machine: this binary again, for this test only.
func inside(t *testing.T, run func(t *testing.T, g ground)) {
	t.Helper()
	if dir := os.Getenv(insideVariable); dir != "" {
		run(t, prepare(t, dir))
		return
	}
	t.Parallel()
	dir := t.TempDir()
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	runtime.LockOSThread() // the copy dies with the thread that started it
	defer runtime.UnlockOSThread()
	p, err := os.StartProcess("/proc/self/exe", []string{os.Args[0], "-test.run=^" + t.Name() + "$", "-test.v", "-test.timeout=10m"}, &os.ProcAttr{
		Env: append(os.Environ(), insideVariable+"="+dir), Files: []*os.File{nil, log, log},
		Sys: &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		t.Fatal(err)
	}
	state, err := p.Wait()
	said, _ := os.ReadFile(log.Name())
	if err != nil || !state.Success() {
		t.Fatalf("inside: %v, %v\n%s", state, err, said)
	}
	t.Logf("%s", said)
}

func prepare(t *testing.T, dir string) ground {
	t.Helper()
	g := ground{dir: dir, proc: filepath.Join(dir, "proc"), sys: filepath.Join(dir, "sys")}
	control := filepath.Join(g.sys, "fs/fuse/connections")
	for _, d := range []string{g.proc, control} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("proc", g.proc, "proc", 0, ""); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("fusectl", control, "fusectl", 0, ""); err != nil {
		t.Fatal(err)
	}
	// Our own children are started by /proc/self/exe.
	if err := unix.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		t.Fatal(err)
	}
	return g
}

func (g ground) host() *Host { return New(Options{Proc: g.proc, Root: g.proc + "/1/root", Sys: g.sys}) }
