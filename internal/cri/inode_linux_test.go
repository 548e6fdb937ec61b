package cri

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A namespace is found behind the host's own links, and not where none is mounted.
func TestRootInode(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "run/netns"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(root, "var"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/run", filepath.Join(root, "var/run")); err != nil { // as every system has it
		t.Fatal(err)
	}
	file := filepath.Join(root, "run/netns/cni-1")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := inode(root, "/var/run/netns/cni-1"); got != 0 {
		t.Errorf("a mere file is namespace %d", got)
	}
	if err := syscall.Mount("/proc/self/ns/net", file, "", syscall.MS_BIND, ""); err != nil {
		t.Fatal(err)
	}
	link, err := os.Readlink("/proc/self/ns/net")
	if got := inode(root, "/var/run/netns/cni-1"); err != nil || got == 0 || got != parseNSLink(link) {
		t.Errorf("%d, not %s (%v)", got, link, err)
	}
	if err := syscall.Unmount(file, 0); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{"/var/run/netns/cni-1", "/var/run/netns/none", "/../../../proc/self/ns/net", "/proc/0/ns/net", "/"} {
		if got := inode(root, p); got != 0 {
			t.Errorf("%s is namespace %d", p, got)
		}
	}
}
