package records

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func tree(names ...string) fstest.MapFS {
	m := fstest.MapFS{}
	for _, n := range names {
		m[n] = &fstest.MapFile{Data: []byte(line)}
	}
	return m
}

func TestWalkOrdersRotatedLogs(t *testing.T) {
	t.Parallel()
	in, err := Walk(tree("l/kubelet.log", "l/kubelet.log.1", "l/kubelet.log.10.gz", "l/kubelet.log.2.gz", "l/cni.log", "l/cni-2026-11-15T10-32-04.670.log.gz", "l/cni-2026-11-14T10-32-04.670.log",
		"l/dockerd.log-20190408.gz", "l/dockerd.log", "l/dockerd.log-20190407"), "l")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, i := range in {
		got = append(got, strings.TrimPrefix(i.Name, "l/"))
		if i.Node != "" {
			t.Errorf("%s is of node %s", i.Name, i.Node)
		}
	}
	want := []string{
		"cni-2026-11-14T10-32-04.670.log", "cni-2026-11-15T10-32-04.670.log.gz", "cni.log", "dockerd.log-20190407", "dockerd.log-20190408.gz", "dockerd.log",
		"kubelet.log.10.gz", "kubelet.log.2.gz", "kubelet.log.1", "kubelet.log",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestWalkNamesNodes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		tree fstest.MapFS
		want map[string]string
	}{
		{
			tree("r/control-plane/audit.log", "r/node1/kubelet.log", "r/node2/kubelet.log", "r/node1-cni/cni.log", "r/node1-calico/felix.log", "r/node2-calico/felix.log", "r/node1/hangfs.log"),
			map[string]string{
				"r/control-plane/audit.log": "", "r/node1/kubelet.log": "node1", "r/node2/kubelet.log": "node2", "r/node1-cni/cni.log": "node1",
				"r/node1-calico/felix.log": "node1", "r/node2-calico/felix.log": "node2", "r/node1/hangfs.log": "node1",
			},
		},
		{
			tree("a-1/var/log/cni.log", "a-1-b/var/log/cni.log", "a-1/var/log/cni.log.1"),
			map[string]string{"a-1/var/log/cni.log": "a-1", "a-1-b/var/log/cni.log": "a-1-b", "a-1/var/log/cni.log.1": "a-1"},
		},
		{tree("x/kubelet.log", "y/containerd.log"), map[string]string{"x/kubelet.log": "", "y/containerd.log": ""}},
		{tree("kubelet.log", "old/kubelet.log"), map[string]string{"kubelet.log": "", "old/kubelet.log": ""}},
	} {
		in, err := Walk(c.tree, ".")
		if err != nil || len(in) != len(c.want) {
			t.Fatal(in, err)
		}
		for _, i := range in {
			if i.Node != c.want[i.Name] {
				t.Errorf("%s is of %q, not of %q", i.Name, i.Node, c.want[i.Name])
			}
		}
	}
	if _, err := Walk(tree("x"), "y"); err == nil {
		t.Error("what is not there was walked")
	}
	if in, err := Walk(tree("d/x.log"), "d/x.log"); err != nil || len(in) != 1 || in[0].Name != "d/x.log" {
		t.Error(in, err)
	}
}

// What is not a regular file is reported and never opened.
func TestWalkStaysInItsTree(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	dir := filepath.Join(root, "logs")
	for name, text := range map[string]string{"secret": line, "logs/a.log": line} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"out": "../secret", "abs": filepath.Join(root, "secret"), "in": "a.log"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	socket, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = socket.Close() }()
	in, err := Walk(os.DirFS(root), "logs")
	if err != nil {
		t.Fatal(err)
	}
	files, got := records(t, chunkSize, Options{}, in...)
	left := map[string]string{}
	for i, f := range files {
		left[f.Name] = strings.Join(f.Left, "; ")
		if (len(got[i]) == 1) != (f.Name == "logs/a.log") {
			t.Errorf("%s: %d records", f.Name, len(got[i]))
		}
	}
	want := map[string]string{
		"logs/a.log": "", "logs/out": "not read: symbolic link out of the directory", "logs/abs": "not read: symbolic link out of the directory", "logs/s": "not read: a socket, not a regular file",
	}
	for name, says := range want {
		if got, ok := left[name]; !ok || got != says {
			t.Errorf("%s: %q", name, got)
		}
	}
	if len(left) != len(want) {
		t.Errorf("%q", left)
	}
}
