package plugin

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// aloneEnv names the test that a copy of this program runs in namespaces of its own.
const aloneEnv = "PLUMBLINE_GUARD_TEST_ALONE"

// alone gives a test network, mount and PID namespaces of its own: it runs the test again
// in a copy of this program, and tells the copy to go on.
func alone(t *testing.T, args ...string) bool {
	t.Helper()
	if os.Getenv(aloneEnv) == t.Name() {
		must(t, unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""))
		must(t, unix.Mount("proc", "/proc", "proc", 0, ""))
		must(t, unix.Mount("tmpfs", "/run", "tmpfs", 0, ""))
		must(t, os.MkdirAll("/run/netns", 0o755))
		ip(t, "link", "set", "lo", "up")
		return true
	}
	runtime.LockOSThread() // the copy dies with the thread that started it
	defer runtime.UnlockOSThread()
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", append([]string{"-test.run=^" + t.Name() + "$", "-test.v", "-test.count=1", "-test.timeout=20m"}, args...)...)
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

func ip(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "ip", args...).CombinedOutput(); err != nil {
		t.Fatalf("ip %s: %v: %s", strings.Join(args, " "), err, out)
	}
}

// pin makes a network namespace and gives its path.
func pin(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join("/run/netns", name)
	must(t, os.WriteFile(path, nil, 0o600))
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		home, err := os.Open("/proc/thread-self/ns/net")
		if err == nil {
			err = unix.Unshare(unix.CLONE_NEWNET)
		}
		if err == nil {
			err = errors.Join(unix.Mount("/proc/thread-self/ns/net", path, "", unix.MS_BIND, ""), unix.Setns(int(home.Fd()), unix.CLONE_NEWNET), home.Close())
		}
		if err == nil {
			runtime.UnlockOSThread()
		}
		done <- err
	}()
	must(t, <-done)
	return path
}

func unpin(t *testing.T, path string) {
	t.Helper()
	must(t, unix.Unmount(path, unix.MNT_DETACH))
	must(t, os.Remove(path))
}

// onHost tells whether the host has a device.
func onHost(name string) bool {
	_, err := net.InterfaceByName(name)
	return err == nil
}
