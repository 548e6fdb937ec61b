package cri

import (
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// kubeadm names the socket below /var/run, which is an absolute link on the node.
func TestSocketBehindTheNodesLink(t *testing.T) {
	t.Parallel()
	root, err := os.MkdirTemp("", "cri") //nolint:usetesting // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	for _, dir := range []string{"run", "var"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/run", filepath.Join(root, "var/run")); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(root, "run/plumbline-test.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	c := Open(root, At("/var/run/plumbline-test.sock"))
	defer func() { _ = c.Close() }()
	c.conn.Connect()
	got := make(chan error, 1)
	go func() {
		conn, err := l.Accept()
		if err == nil {
			err = conn.Close()
		}
		got <- err
	}()
	select {
	case err := <-got:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("the socket is not reached")
	}
}
