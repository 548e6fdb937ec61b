// Package product finds the programs that make build has put into bin/: the lab runs
// them as a user would, and imports nothing of them.
package product

import (
	"os"
	"path/filepath"
	"testing"
)

// Binary is the path of plumbline. A test without it fails: it is what is tested.
func Binary(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != "/"; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
			continue
		}
		bin := filepath.Join(dir, "bin", "plumbline")
		if _, err := os.Stat(bin); err != nil {
			t.Fatalf("make build has not been run: %v", err)
		}
		return bin
	}
	t.Fatal("not inside the repository")
	return ""
}
