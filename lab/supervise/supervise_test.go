package supervise

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func serve(t *testing.T) (Client, string) {
	t.Helper()
	dir := t.TempDir()
	sock := filepath.Join(dir, "s")
	go func() { _ = Serve(sock) }()
	c := Client(sock)
	until(t, func() bool { _, err := c.List(t.Context()); return err == nil })
	return c, dir
}

func until(t *testing.T, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatal("not within a minute")
}

// One supervisor for all: reaping is per process, so two would reap each other's parts.
func TestSupervisor(t *testing.T) {
	c, dir := serve(t)
	sh := func(name, script string, restartOn ...int) Part {
		return Part{Name: name, Argv: []string{"/bin/sh", "-c", script}, Log: filepath.Join(dir, name+".log"), RestartOn: restartOn}
	}
	status := func(name string) Status {
		s, err := c.Status(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}

	t.Run("output goes to the log and the exit code is reported", func(t *testing.T) {
		if _, err := c.Start(t.Context(), sh("short", "echo hello; echo there >&2; exit 3")); err != nil {
			t.Fatal(err)
		}
		until(t, func() bool { return !status("short").Running })
		if s := status("short"); s.Exit != "exit code 3" || s.Starts != 1 {
			t.Errorf("got %+v", s)
		}
		b, _ := os.ReadFile(filepath.Join(dir, "short.log"))
		if string(b) != "hello\nthere\n" {
			t.Errorf("log is %q", b)
		}
	})
	t.Run("a part runs once", func(t *testing.T) {
		if _, err := c.Start(t.Context(), sh("long", "sleep 100")); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Start(t.Context(), sh("long", "sleep 100")); err == nil || !strings.Contains(err.Error(), "already running") {
			t.Errorf("second start: %v", err)
		}
	})
	t.Run("freeze and thaw", func(t *testing.T) {
		pid := status("long").PID
		for sig, want := range map[syscall.Signal]string{syscall.SIGSTOP: "T", syscall.SIGCONT: "S"} {
			if err := c.Signal(t.Context(), "long", sig); err != nil {
				t.Fatal(err)
			}
			until(t, func() bool { return state(t, pid) == want })
			if err := c.Signal(t.Context(), "long", syscall.SIGCONT); err != nil {
				t.Fatal(err)
			}
		}
	})
	t.Run("a killed part is not restarted", func(t *testing.T) {
		if err := c.Kill(t.Context(), "long"); err != nil {
			t.Fatal(err)
		}
		if s := status("long"); s.Running || s.Exit != "killed by killed" {
			t.Errorf("got %+v", s)
		}
		if err := c.Again(t.Context(), "long"); err != nil {
			t.Fatal(err)
		}
		if s := status("long"); !s.Running || s.Starts != 2 {
			t.Errorf("got %+v", s)
		}
		if err := c.Stop(t.Context(), "long", time.Second); err != nil || status("long").Running {
			t.Errorf("stop: %v", err)
		}
	})
	t.Run("restarted only after the listed exit codes", func(t *testing.T) {
		once := "test -e %[1]s && sleep 100; touch %[1]s; exit 129"
		once = strings.ReplaceAll(once, "%[1]s", filepath.Join(dir, "flag"))
		if _, err := c.Start(t.Context(), sh("felix", once, 129)); err != nil {
			t.Fatal(err)
		}
		until(t, func() bool { s := status("felix"); return s.Running && s.Starts == 2 })
		if s := status("short"); s.Starts != 1 {
			t.Errorf("a part with no restart was started %d times", s.Starts)
		}
		if err := c.Kill(t.Context(), "felix"); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("a stopped part is not restarted", func(t *testing.T) {
		if _, err := c.Start(t.Context(), sh("polite", "trap 'exit 0' TERM; touch "+filepath.Join(dir, "polite.set")+"; while :; do sleep 0.05; done", AnyExit)); err != nil {
			t.Fatal(err)
		}
		until(t, func() bool { _, err := os.Stat(filepath.Join(dir, "polite.set")); return err == nil })
		if err := c.Stop(t.Context(), "polite", 5*time.Second); err != nil {
			t.Fatal(err)
		}
		time.Sleep(restartDelay + 200*time.Millisecond)
		if s := status("polite"); s.Running || s.Exit != "exit code 0" || s.Starts != 1 {
			t.Errorf("got %+v", s)
		}
	})
	t.Run("a part that cannot start is an error", func(t *testing.T) {
		_, err := c.Start(t.Context(), Part{Name: "none", Argv: []string{"/nonexistent"}, Log: filepath.Join(dir, "none.log")})
		if err == nil || !strings.Contains(err.Error(), "/nonexistent") {
			t.Errorf("got %v", err)
		}
		if err := c.Signal(context.Background(), "nobody", syscall.SIGTERM); err == nil {
			t.Error("a signal to an unknown part was accepted")
		}
	})
}

func state(t *testing.T, pid int) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b[strings.LastIndexByte(string(b), ')')+2])
}
