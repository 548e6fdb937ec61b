package build

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPickReturnsDocumentsOfTheGivenKinds(t *testing.T) {
	t.Parallel()
	in := "---\n# Source: a\nkind: ClusterRole\nname: a\n---\nspec:\n  kind: ClusterRole\nkind: DaemonSet\n---\napiVersion: v1\nkind: ServiceAccount\nname: b"
	got := pick(in, "ClusterRole", "ServiceAccount")
	for _, want := range []string{"name: a", "name: b"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in:\n%s", want, got)
		}
	}
	if strings.Contains(got, "DaemonSet") {
		t.Errorf("picked a document by a nested kind:\n%s", got)
	}
}

func TestKeyCoversEveryInput(t *testing.T) {
	t.Parallel()
	tree := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		p := filepath.Join(tree, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b := &Builder{Tree: tree, Cache: filepath.Join(tree, "cache"), goVersion: "go1"}
	c := Component{Name: "c", Dir: "c", Package: "tool"}
	key := func() string {
		t.Helper()
		p, err := b.path(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	write("c/go.mod", "module c")
	seen := map[string]string{key(): "first"}
	change := func(what string, f func()) {
		t.Helper()
		f()
		k := key()
		if other, ok := seen[k]; ok {
			t.Errorf("%s: same key as %s", what, other)
		}
		seen[k] = what
	}
	change("sum added", func() { write("c/go.sum", "x") })
	change("sum changed", func() { write("c/go.sum", "y") })
	change("source in a folder", func() { write("c/stub/go.mod", "module stub") })
	change("flags", func() { c.LDFlags = " -X a=b" })
	change("compiler", func() { b.goVersion = "go2" })
	before := key()
	write("c/x_test.go", "package c")
	if key() != before {
		t.Error("a test file is not an input")
	}
}

func TestPathsOfAnEmptyCache(t *testing.T) {
	t.Parallel()
	b, err := New()
	if err != nil {
		t.Fatal(err)
	}
	b.Cache = t.TempDir()
	if _, err := b.Paths(t.Context()); !errors.Is(err, ErrNotBuilt) {
		t.Errorf("got %v, want ErrNotBuilt", err)
	}
}
