package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"
)

// Main runs the tests of a package inside a lab's namespaces: it creates them, starts
// the test binary again inside, and removes everything afterwards. A TestMain that uses
// it calls nothing else.
func Main(m *testing.M) {
	Init()
	if _, ok := Inside(); ok {
		os.Exit(m.Run())
	}
	code, err := mainOutside()
	if err != nil {
		fmt.Fprintln(os.Stderr, "lab:", err)
		code = 1
	}
	os.Exit(code)
}

func mainOutside() (code int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	name := fmt.Sprintf("test-%d", os.Getpid())
	runtime.LockOSThread() // the lab ends with this thread, however this process exits
	first, err := createOuter(ctx, name, true)
	if err != nil {
		return 1, err
	}
	defer func() {
		err = errors.Join(err, Down(context.Background(), name))
		_ = first.Wait()
	}()
	wd, err := os.Getwd()
	if err != nil {
		return 1, err
	}
	exe, err := os.Executable()
	if err != nil {
		return 1, err
	}
	argv := enterArgs(first.Process.Pid, append([]string{exe}, os.Args[1:]...)...)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), workDirEnv+"="+wd)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), nil
	}
	return 0, err
}

// Start starts a cluster that ends with the test, of the versions that the environment names where
// the test does not: LAB_CALICO, LAB_KUBERNETES, LAB_CONTAINERD. The test's package must use Main;
// tests that start a cluster cannot run in parallel, since they share a network.
func Start(t testing.TB, c Config) *Lab {
	t.Helper()
	if _, ok := Inside(); !ok {
		t.Fatalf("lab.Start: %v: does TestMain call lab.Main?", ErrOutside)
	}
	c.Calico, c.Kubernetes = cmp.Or(c.Calico, os.Getenv("LAB_CALICO")), cmp.Or(c.Kubernetes, os.Getenv("LAB_KUBERNETES"))
	c.Containerd = cmp.Or(c.Containerd, os.Getenv("LAB_CONTAINERD"))
	l, err := Up(t.Context(), c, func(step string, took time.Duration) {
		if took > 0 {
			t.Logf("%-40s %5.1fs", step, took.Seconds())
		}
	})
	if l == nil {
		t.Fatalf("start lab: %v", err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			keepLogs(t, l)
		}
		if err := l.Stop(context.Background()); err != nil {
			t.Errorf("stop lab: %v", err)
		}
	})
	if err != nil {
		t.Fatalf("start lab: %v", err) // the cleanup stops the started parts anyway
	}
	return l
}

// keepLogs saves the logs of a failed test's cluster.
func keepLogs(t testing.TB, l *Lab) {
	dir, err := os.MkdirTemp("", "plumbline-lab-logs-") //nolint:usetesting // the logs are needed after the test
	if err == nil {
		err = l.KeepLogs(context.Background(), dir)
	}
	t.Logf("logs of the failed test: %s (%v)", dir, err)
}
