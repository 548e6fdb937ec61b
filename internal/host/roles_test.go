package host

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const roleVariable = "PLUMBLINE_HOST_TEST_ROLE"

func init() {
	if os.Getenv(roleVariable) != "" {
		runtime.LockOSThread() // what main does, the leader does
	}
}

// play is what a child of a test does: a role and an argument.
func play(role string) {
	role, arg, _ := strings.Cut(role, " ")
	var err error
	switch role {
	case "sleep":
	case "named": // as a program of that name would be
		err = os.WriteFile("/proc/thread-self/comm", []byte(arg), 0)
	case "leader-exit":
		go func() {
			runtime.LockOSThread()
			time.Sleep(time.Hour)
		}()
		time.Sleep(50 * time.Millisecond)
		_, _, err = syscall.RawSyscall(syscall.SYS_EXIT, 0, 0, 0)
	case "statfs", "statfs-thread": // with a file open on what will not answer
		if _, err = unix.Open(arg, unix.O_PATH, 0); err != nil {
			break
		}
		var s unix.Statfs_t
		if role == "statfs" {
			err = unix.Statfs(arg, &s)
		} else {
			go func() { _ = unix.Statfs(arg, &s) }()
		}
	case "keep-mounts": // in a mount namespace of its own
		err = unix.Unshare(unix.CLONE_NEWNS)
		if err == nil {
			err = os.WriteFile(arg, nil, 0o600)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, role, arg, err)
		os.Exit(1)
	}
	time.Sleep(time.Hour)
}

// spawn starts this binary again in a role.
func spawn(t *testing.T, role string, env ...string) *os.Process {
	t.Helper()
	return spawnIn(t, 0, role, env...)
}

// spawnIn starts it in new namespaces. Its arguments are Felix', which only matters by that name.
func spawnIn(t *testing.T, spaces uintptr, role string, env ...string) *os.Process {
	t.Helper()
	p, err := os.StartProcess("/proc/self/exe", []string{"role", "-felix"}, &os.ProcAttr{
		Env: append(env, roleVariable+"="+role), Files: []*os.File{nil, nil, os.Stderr},
		Sys: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Cloneflags: spaces},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.Kill()
		_, _ = p.Wait()
	})
	return p
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for range 500 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("waited in vain for %s", what)
}
