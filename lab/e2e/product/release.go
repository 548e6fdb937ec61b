//go:build e2e

package product

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Release makes a release of bin/, pushes it to a registry that speaks HTTP, and returns its directory.
func Release(t testing.TB, registry, version string) string {
	t.Helper()
	return ReleaseOf(t, filepath.Dir(file(t, "go.mod")), registry, version)
}

// ReleaseOf is Release of another checkout, which is built.
func ReleaseOf(t testing.TB, root, registry, version string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "dist")
	cmd := exec.CommandContext(t.Context(), "go", "run", ".", "-root", root, "-quick", "-version", version, "-registry", registry, "-push", "-plain-http", "-out", out)
	cmd.Dir, cmd.Env = filepath.Join(root, "tools", "release"), append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off")
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("release: %v\n%s", err, said)
	}
	return out
}

// Crane is the path of crane, whose registry the tests use.
func Crane(t testing.TB) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "tool", "-n", "crane")
	cmd.Dir = filepath.Join(filepath.Dir(file(t, "go.mod")), "tools", "release")
	path, err := cmd.Output()
	if err != nil {
		t.Fatalf("crane is not built: %v", err)
	}
	return strings.TrimSpace(string(path))
}
