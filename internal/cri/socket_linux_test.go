package cri

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// short returns a directory whose sockets have short paths.
func short(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "cri") //nolint:usetesting // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func listen(t *testing.T, path string) *net.UnixListener {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// Where we find no socket nothing is said about the runtime; where a socket is that nobody
// serves, the runtime does not answer.
func TestWhoIsToBlame(t *testing.T) {
	t.Parallel()
	root := short(t)
	left := listen(t, filepath.Join(root, "left.sock"))
	left.SetUnlinkOnClose(false)
	_ = left.Close()
	for _, c := range []struct {
		name   string
		socket Socket
		says   string // empty: the runtime is to blame
	}{
		{"no such socket", At("/none.sock"), "no socket of a container runtime at /none.sock"},
		{"no such directory", At("/var/run/x/none.sock"), "no socket of a container runtime at /var/run/x/none.sock"},
		{"no socket known", Usual(root, func() string { return "" }, "/a.sock", "/b.sock"), "names no runtime"},
		{"a socket that nobody serves", At("/left.sock"), ""},
	} {
		k := Open(root, c.socket)
		var f model.NodeState
		err := k.read(t.Context(), root, &f)
		var tables observe.TableErrors
		switch {
		case err == nil:
			t.Errorf("%s: no error", c.name)
		case c.says == "" && (!errors.As(err, &tables) || len(f.Runtimes) != 4 || f.Runtimes[3].Error == ""):
			t.Errorf("%s: %v, %+v", c.name, err, f.Runtimes)
		case c.says != "" && (errors.As(err, &tables) || f.Runtimes != nil || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%s: %v, %+v", c.name, err, f.Runtimes)
		}
		_ = k.Close()
	}
}

// noted sends every connection that it accepts to a channel too.
type noted struct {
	net.Listener
	to chan<- net.Conn
}

func (r noted) Accept() (net.Conn, error) {
	c, err := r.Listener.Accept()
	if err == nil {
		r.to <- c
	}
	return c, err
}

// A kubelet whose configuration names another runtime is followed when the old runtime has
// ended. Until then nothing is read: the new one may have no pods yet.
func TestFollowsTheKubelet(t *testing.T) {
	t.Parallel()
	root := short(t)
	came := [2]chan net.Conn{make(chan net.Conn, 100), make(chan net.Conn, 100)}
	for i, name := range []string{"old.sock", "new.sock"} {
		s := grpc.NewServer() // a connection that nobody greets ends after a while
		l := listen(t, filepath.Join(root, name))
		go func() { _ = s.Serve(noted{l, came[i]}) }()
		t.Cleanup(s.Stop)
	}
	if err := os.Symlink("/old.sock", filepath.Join(root, "link.sock")); err != nil {
		t.Fatal(err)
	}
	var now atomic.Value
	now.Store("/old.sock")
	k := Open(root, Usual(root, func() string { return now.Load().(string) }))
	defer func() { _ = k.Close() }()
	reached := func(i int) net.Conn {
		t.Helper()
		for range 1000 {
			k.conn.Connect()
			select {
			case c := <-came[i]:
				return c
			case <-time.After(10 * time.Millisecond):
			}
		}
		t.Fatalf("socket %d is not reached", i)
		return nil
	}
	old := reached(0)
	now.Store("/link.sock")
	if err := k.way.follow(); err != nil {
		t.Errorf("the same socket by another name: %v", err)
	}
	now.Store("/new.sock")
	var f model.NodeState
	if err := k.read(t.Context(), root, &f); err == nil || !strings.Contains(err.Error(), "/old.sock still runs") || f.Runtimes != nil {
		t.Errorf("while the old runtime runs: %v, %+v", err, f.Runtimes)
	}
	if len(came[1]) != 0 {
		t.Error("the new socket was used while the old runtime runs")
	}
	_ = old.Close()
	_ = reached(1)
	if err := k.way.follow(); err != nil {
		t.Errorf("after that: %v", err)
	}
}

// A connection that is being made while the kubelet's configuration changes is judged once it
// is there: what was read over it counts for nothing.
func TestChangesWhileConnecting(t *testing.T) {
	t.Parallel()
	root := short(t)
	s := grpc.NewServer()
	l := listen(t, filepath.Join(root, "old.sock"))
	go func() { _ = s.Serve(l) }()
	t.Cleanup(s.Stop)
	var asked atomic.Int32
	k := Open(root, func() (string, error) {
		if asked.Add(1) <= 2 { // before the read, and by the connection
			return "/old.sock", nil
		}
		return "/new.sock", nil
	})
	defer func() { _ = k.Close() }()
	var f model.NodeState
	err := k.read(t.Context(), root, &f)
	if err == nil || !strings.Contains(err.Error(), "/old.sock still runs") || f.Runtimes != nil {
		t.Errorf("%v, %+v", err, f.Runtimes)
	}
}
