package outside

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab"
)

// Command returns the path of the built lab command, relative to a package two levels
// below lab/.
func Command(ctx context.Context, t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	bin, err := filepath.Abs("../../../bin/lab")
	if err != nil {
		t.Fatal(err)
	}
	return exec.CommandContext(ctx, bin, args...)
}

// Run runs it and returns what it printed and its exit code.
func Run(t testing.TB, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := Command(t.Context(), t, args...)
	var out, diag strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &diag
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return out.String(), diag.String(), exit.ExitCode()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), diag.String(), 0
}

// Must runs it and fails the test if it does not succeed.
func Must(t testing.TB, args ...string) string {
	t.Helper()
	out, diag, code := Run(t, args...)
	if code != 0 {
		t.Fatalf("lab %s: exit code %d\n%s%s", strings.Join(args, " "), code, out, diag)
	}
	return out
}

// Look reads the state of the machine.
func Look(t testing.TB) lab.Host {
	t.Helper()
	m, err := lab.LookAtHost(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// NothingLeft fails the test unless the machine is as before. The kernel removes network
// namespaces asynchronously, so NothingLeft waits a few seconds.
func NothingLeft(t testing.TB, before lab.Host) {
	t.Helper()
	var left []string
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		var err error
		if left, err = lab.Leftovers(t.Context()); err != nil {
			t.Fatal(err)
		}
		left = append(left, Look(t).Differences(before)...)
		if len(left) == 0 {
			return
		}
	}
	t.Errorf("left behind:\n%s", strings.Join(left, "\n"))
}
