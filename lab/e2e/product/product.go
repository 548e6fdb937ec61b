// Package product finds the programs that make build has written to bin/: the lab runs
// them as a user would, and imports nothing of them.
package product

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"plumbline.dev/plumbline/lab"
)

// Binary is the path of plumbline. A test fails if it is missing, since it tests it.
func Binary(t testing.TB) string { return file(t, "bin/plumbline") }

// Agent is the path of plumbline-agent.
func Agent(t testing.TB) string { return file(t, "bin/plumbline-agent") }

// Controller is the path of plumbline-controller.
func Controller(t testing.TB) string { return file(t, "bin/plumbline-controller") }

// InstallAgents installs the agents on every node, with the manifest that we ship.
func InstallAgents(t testing.TB, l *lab.Lab) {
	t.Helper()
	if err := lab.InstallAgents(t.Context(), l, file(t, "bin/plumbline-agent"), file(t, "deploy/repair.yaml")); err != nil {
		t.Fatal(err)
	}
}

// RemoveAgents removes them again.
func RemoveAgents(t testing.TB, l *lab.Lab) {
	t.Helper()
	if err := lab.RemoveAgents(t.Context(), l, file(t, "deploy/repair.yaml")); err != nil {
		t.Fatal(err)
	}
}

// InstallGuard installs the agents with the guard daemon on every node, in mode observe.
func InstallGuard(t testing.TB, l *lab.Lab) {
	t.Helper()
	if err := lab.InstallAgents(t.Context(), l, file(t, "bin/plumbline-agent"), file(t, "deploy/guard.yaml"), file(t, "bin/plumbline-cni")); err != nil {
		t.Fatal(err)
	}
}

// RemoveGuard removes both again.
func RemoveGuard(t testing.TB, l *lab.Lab) {
	t.Helper()
	if err := lab.RemoveAgents(t.Context(), l, file(t, "deploy/guard.yaml")); err != nil {
		t.Fatal(err)
	}
}

// Chart is the path of the chart.
func Chart(t testing.TB) string { return file(t, "charts/plumbline") }

// Helm runs the Helm that renders our manifests.
func Helm(t testing.TB, l *lab.Lab, args ...string) {
	t.Helper()
	HelmOutput(t, l, args...)
}

// HelmOutput is Helm that returns what Helm printed.
func HelmOutput(t testing.TB, l *lab.Lab, args ...string) string {
	t.Helper()
	where := exec.CommandContext(t.Context(), "go", "tool", "-modfile=tools/helm/go.mod", "-n", "helm")
	where.Dir = filepath.Dir(file(t, "go.mod"))
	path, err := where.Output()
	if err != nil {
		t.Fatalf("helm is not built: %v", err)
	}
	cmd := exec.CommandContext(t.Context(), strings.TrimSpace(string(path)), args...)
	cmd.Env = append(os.Environ(), l.Env()...)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("helm %s: %v\n%s%s", args[0], err, out, said.String())
	}
	return string(out)
}

// file is the path of a file of the repository.
func file(t testing.TB, name string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != "/"; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
			continue
		}
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); err != nil {
			t.Fatalf("make build has not been run: %v", err)
		}
		return path
	}
	t.Fatal("not inside the repository")
	return ""
}
