//go:build linux

package kernel_test

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

// aloneEnv names the test that a copy of this program runs in namespaces of its own.
const (
	aloneEnv  = "PLUMBLINE_KERNEL_TEST_ALONE"
	zombieEnv = "PLUMBLINE_KERNEL_TEST_ZOMBIE"
)

// The first thread is only main's: what tests do to theirs must not show in /proc/1/ns,
// where we look for the host's namespace.
func init() { runtime.LockOSThread() }

func TestMain(m *testing.M) {
	if os.Getenv(zombieEnv) != "" {
		becomeZombie()
	}
	goleak.VerifyTestMain(m)
}

// alone gives a test network, mount and PID namespaces of its own: it runs the test again
// in a copy of this program, and tells the copy to go on.
func alone(t *testing.T) bool {
	t.Helper()
	if os.Getenv(aloneEnv) == t.Name() {
		furnish(t)
		return true
	}
	runtime.LockOSThread() // the copy dies with the thread that started it
	defer runtime.UnlockOSThread()
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v", "-test.count=1", "-test.timeout=10m")
	cmd.Env = append(os.Environ(), aloneEnv+"="+t.Name())
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNET | unix.CLONE_NEWNS | unix.CLONE_NEWPID, Pdeathsig: unix.SIGKILL}
	out, err := cmd.CombinedOutput()
	t.Log(string(out))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Fatal("the copy did not run the test")
	}
	return false
}

// furnish gives the copy a procfs and a /run of its own.
func furnish(t *testing.T) {
	t.Helper()
	must(t, unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""))
	must(t, unix.Mount("proc", "/proc", "proc", 0, ""))
	must(t, unix.Mount("tmpfs", "/run", "tmpfs", 0, ""))
	must(t, os.MkdirAll("/run/netns", 0o755))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// becomeZombie ends the first thread of the process and leaves the others alive.
func becomeZombie() {
	go func() {
		for {
			time.Sleep(time.Second)
		}
	}()
	_, _, _ = syscall.Syscall(unix.SYS_EXIT, 0, 0, 0)
}
