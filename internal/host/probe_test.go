package host

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

func TestProbe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var st unix.Stat_t
	if err := unix.Stat(dir, &st); err != nil {
		t.Fatal(err)
	}
	major, minor := strconv.Itoa(int(unix.Major(st.Dev))), strconv.Itoa(int(unix.Minor(st.Dev)))
	for name, c := range map[string]struct {
		args []string
		want int
	}{
		"it answers":        {[]string{dir, major, minor}, probeAnswered},
		"another is there":  {[]string{dir, major, minor + "9"}, probeElse},
		"it is not there":   {[]string{dir + "/x", major, minor}, probeNoWay},
		"asked for nothing": {nil, probeNoWay},
	} {
		if got := probe(c.args); got != c.want {
			t.Errorf("%s: got %d", name, got)
		}
	}
}

// The process behind a FUSE mount is named only if it can be no other.
func TestFuseServer(t *testing.T) {
	t.Parallel()
	tr, h := newTree(t)
	serve := func(pid int, name, fdinfo string) {
		t.Helper()
		tr.put(pid, name, 'S')
		dir := filepath.Join(tr.dir, strconv.Itoa(pid))
		if err := os.MkdirAll(dir+"/fd", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("/dev/fuse", dir+"/fd/7"); err != nil {
			t.Fatal(err)
		}
		tr.file(pid, "fdinfo/7", fdinfo)
	}
	find := func(want string) {
		t.Helper()
		clear(h.servers)
		if got, err := h.server(t.Context(), &volume{mount: mount{kind: "fuse.glusterfs", source: "g:/vol", minor: 52}}, true); got != want || err != nil {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
	find("g")
	serve(10, "sshfs", "pos:\t0\n")
	find("sshfs pid 10")
	serve(20, "glusterfs", "pos:\t0\n")
	find("glusterfs pid 20")
	serve(30, "glusterfs", "pos:\t0\n")
	find("g")
	serve(40, "other", "pos:\t0\nfuse_connection:\t51\n")
	serve(50, "glusterfsd", "pos:\t0\nfuse_connection:\t52\n")
	find("glusterfsd pid 50")
}
