package daemon

import (
	"os"
	"path/filepath"
	"testing"
)

// TestTree: the host's links never lead out of its files.
func TestTree(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	root := filepath.Join(outside, "host")
	for _, dir := range []string{"a/b/c", "opt/x"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{
		"abs": "/a/b", "rel": "a/../a/b", "a/up": "../opt", "escape": "../../../../../a/b/c", "loop": "loop", "out": outside, "chain": "/abs/c",
	} {
		if err := os.Symlink(to, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	for from, want := range map[string]string{
		"/a/b/c": "/a/b/c", "/abs/c": "/a/b/c", "/rel": "/a/b", "/a/up/x": "/opt/x", "/escape": "/a/b/c", "/chain": "/a/b/c", "/": "/", "/../../a": "/a",
		"/loop": "", "/out": "", "/missing": "", "a": "", "": "",
	} {
		got, err := tree(root).real(from)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v; want %q", from, got, err, want)
		}
	}
	if got, err := tree(root).dir("/abs/new/dir", 0o700); err != nil || got != "/a/b/new/dir" {
		t.Errorf("%q, %v", got, err)
	}
	if st, err := os.Stat(filepath.Join(root, "a/b/new/dir")); err != nil || !st.IsDir() || st.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", st, err)
	}
	if _, err := tree(root).dir("/loop/x", 0o700); err == nil {
		t.Error("made a directory below a loop")
	}
}
