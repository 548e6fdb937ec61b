package lab

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab/supervise"
)

// outer creates a lab's empty namespaces for a test.
func outer(t *testing.T) (name string, pid int) {
	t.Helper()
	name = fmt.Sprintf("root-%d", os.Getpid())
	cmd, err := createOuter(t.Context(), name, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := Down(context.Background(), name); err != nil {
			t.Error(err)
		}
		_ = cmd.Wait()
	})
	return name, cmd.Process.Pid
}

func in(t *testing.T, pid int, argv ...string) string {
	t.Helper()
	full := enterArgs(pid, argv...)
	out, err := exec.CommandContext(t.Context(), full[0], full[1:]...).CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v: %s", argv, err, out)
	}
	return string(out)
}

func TestRootOuterIsSealed(t *testing.T) {
	name, pid := outer(t)
	if found, err := Find(name); err != nil || found != pid {
		t.Errorf("found as %d, %v; want %d", found, err, pid)
	}
	if _, err := createOuter(t.Context(), name, false); err == nil {
		t.Error("a second lab of that name was created")
	}
	if links := strings.Split(strings.TrimSpace(in(t, pid, "ip", "-o", "link")), "\n"); len(links) != 1 || !strings.Contains(links[0], "lo:") {
		t.Errorf("interfaces inside: %q", links)
	}
	if routes := in(t, pid, "ip", "route", "show", "table", "main"); routes != "" {
		t.Errorf("routes inside: %s", routes)
	}
	if got := in(t, pid, "cat", nameFile); got != name {
		t.Errorf("inside, the lab's name is %q", got)
	}
	if _, err := os.Stat(nameFile); err == nil {
		t.Errorf("%s is on the machine", nameFile)
	}
	if got := in(t, pid, "sh", "-c", "ls -d /proc/[0-9]* | wc -l"); strings.TrimSpace(got) > "9" {
		t.Errorf("%s processes are visible inside", got)
	}
}

func TestRootDownEndsEverythingAtOnce(t *testing.T) {
	name, pid := outer(t)
	sup := supervise.Client(fmt.Sprintf("/proc/%d/root%s", pid, outerSocket))
	// A process that ignores signals, with a child that has left its session.
	_, err := sup.Start(t.Context(), supervise.Part{
		Name: "stubborn", Argv: []string{"/bin/sh", "-c", "trap '' TERM INT HUP; setsid sleep 4321 & sleep 4321"}, Log: stateDir + "/log/x.log",
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := createCgroups(name, "node1"); err != nil {
		t.Fatal(err)
	}
	if left := cgroupsLeft(); len(left) == 0 {
		t.Fatal("no cgroups were created")
	}
	t0 := time.Now()
	if err := Down(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(t0); took > 5*time.Second {
		t.Errorf("took %s", took)
	}
	if out, _ := exec.CommandContext(t.Context(), "pgrep", "-f", "sleep 4321").Output(); len(out) > 0 {
		t.Errorf("processes remain: %s", out)
	}
	for _, c := range cgroupsLeft() {
		if filepath.Base(c) == cgroupName(name) {
			t.Errorf("cgroup %s remains", c)
		}
	}
	if _, err := Find(name); !errors.Is(err, ErrNoLab) {
		t.Errorf("still found: %v", err)
	}
	if err := Down(t.Context(), name); err != nil {
		t.Errorf("a second time: %v", err)
	}
}

// TestRootTiedLabEndsWithItsCreator: a test binary that is killed leaves no lab.
func TestRootTiedLabEndsWithItsCreator(t *testing.T) {
	name := fmt.Sprintf("tied-%d", os.Getpid())
	maker := exec.CommandContext(t.Context(), "/proc/self/exe")
	maker.Env = append(os.Environ(), tiedEnv+"="+name)
	if err := maker.Start(); err != nil {
		t.Fatal(err)
	}
	there := func(want bool) error {
		return Eventually(t.Context(), 10*time.Second, func(context.Context) error {
			if _, err := Find(name); (err == nil) != want {
				return fmt.Errorf("lab running: %v, want %v", err == nil, want)
			}
			return nil
		})
	}
	if err := there(true); err != nil {
		t.Fatal(err)
	}
	_ = maker.Process.Kill()
	_ = maker.Wait()
	if err := there(false); err != nil {
		t.Error(err)
		_ = Down(context.Background(), name)
	}
}

func TestRootErrorHasFailedPartAndItsLastLogLines(t *testing.T) {
	_, pid := outer(t)
	root := fmt.Sprintf("/proc/%d/root", pid)
	sup := supervise.Client(root + outerSocket)
	// The part that is waited for fails only because of the part that has failed.
	for name, script := range map[string]string{"etcd": `printf 'no such flag \033[2J'; exit 7`, "kube-apiserver": "sleep 100"} {
		_, err := sup.Start(t.Context(), supervise.Part{Name: name, Argv: []string{"/bin/sh", "-c", script}, Log: stateDir + "/log/" + name + ".log"})
		if err != nil {
			t.Fatal(err)
		}
	}
	err := await(t.Context(), sup, func(st supervise.Status) string {
		b, _ := os.ReadFile(root + st.Log)
		return string(b)
	}, readyTimeout, "kube-apiserver", func(context.Context) error { return errors.New("connection refused") })
	if !errors.Is(err, ErrPartFailed) {
		t.Fatalf("got %v", err)
	}
	for _, want := range []string{"etcd", "exit code 7", "no such flag", "connection refused"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not contain %q", err, want)
		}
	}
	if strings.Contains(err.Error(), "\x1b") {
		t.Errorf("%q has an escape sequence of the log", err)
	}
}

func TestRootMachineDifferences(t *testing.T) {
	own, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	a, err := LookAtHost(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b, err := LookAtHost(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(a) < 500 {
		t.Errorf("only %d values were read", len(a))
	}
	for _, look := range []Host{a, b} { // tests of other packages run meanwhile, in namespaces of their own
		if look["namespace "+own] == "" {
			t.Errorf("our own namespace %s was not read", own)
		}
		maps.DeleteFunc(look, func(k, _ string) bool { return strings.HasPrefix(k, "namespace ") })
	}
	if d := b.Differences(a); len(d) > 0 {
		t.Errorf("changed by itself: %q", d)
	}
	a["sysctl vm/swappiness"] = "changed"
	delete(a, "mounts")
	a["namespace net:[1]"], b["namespace net:[2]"] = "there", "there" // one that is gone was another's
	if d := b.Differences(a); len(d) != 3 {
		t.Errorf("three changes, reported: %q", d)
	}
}

// TestRootSweepRemovesOnlyDeadLabs: cgroups of a killed lab are removed; those of a
// running lab, with a process, or new ones stay.
func TestRootSweepRemovesOnlyDeadLabs(t *testing.T) {
	hs, err := hierarchies()
	if err != nil {
		t.Fatal(err)
	}
	of := func(name string) string { return filepath.Join(hs[len(hs)-1], cgroupName(name), "node1") }
	there := func(name string) bool {
		_, err := os.Stat(of(name))
		return err == nil
	}
	dead, held := fmt.Sprintf("dead-%d", os.Getpid()), fmt.Sprintf("held-%d", os.Getpid())
	for _, name := range []string{dead, held} {
		t.Cleanup(func() { _ = removeCgroups(context.Background(), name) })
		if err := createCgroups(name, "node1"); err != nil {
			t.Fatal(err)
		}
	}
	sleeper := exec.CommandContext(t.Context(), "sleep", "60")
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sleeper.Process.Kill(); _ = sleeper.Wait() })
	procs := filepath.Join(of(held), "cgroup.procs")
	if err := os.WriteFile(procs, fmt.Append(nil, sleeper.Process.Pid), 0o644); err != nil {
		t.Fatal(err)
	}
	sweepCgroups(nil, time.Hour)
	if !there(dead) {
		t.Error("a new cgroup was removed")
	}
	sweepCgroups(map[string]int{dead: 1}, 0)
	if !there(dead) {
		t.Error("a cgroup of a running lab was removed")
	}
	sweepCgroups(nil, 0)
	if there(dead) {
		t.Error("a cgroup of a killed lab was not removed")
	}
	if !there(held) {
		t.Error("a cgroup with a process was removed")
	}
}
