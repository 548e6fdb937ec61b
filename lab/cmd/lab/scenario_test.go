package main

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// A scenario without versions runs with the first ones: here it gets as far as the missing build.
func TestRunTakesDefaults(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv(playerEnv, "1")
	err := run(t.Context(), env{args: []string{"run", "late-del", "--datastore", "kdd"}, stdout: io.Discard, stderr: io.Discard})
	if err == nil || !strings.Contains(err.Error(), "lab-build") {
		t.Errorf("%v", err)
	}
}

// With one name for two labs the second could not start while the first is kept.
func TestRunKeepsOneOfAName(t *testing.T) {
	t.Parallel()
	err := run(t.Context(), env{args: []string{"run", "late-del", "--keep", "--name", "mine"}, stdout: io.Discard, stderr: io.Discard})
	if !errors.Is(err, errUsage) || !strings.Contains(err.Error(), "--datastore (kdd, etcd)") {
		t.Errorf("%v", err)
	}
}
