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

// A kubelet that is given another runtime is followed, although the old one still runs.
func TestFollowsTheKubelet(t *testing.T) {
	t.Parallel()
	root := short(t)
	var came [2]atomic.Int32
	for i, name := range []string{"old.sock", "new.sock"} {
		l := listen(t, filepath.Join(root, name))
		go func() {
			for {
				if _, err := l.Accept(); err != nil {
					return
				}
				came[i].Add(1)
			}
		}()
	}
	var now atomic.Value
	now.Store("/old.sock")
	k := Open(root, Usual(root, func() string { return now.Load().(string) }))
	defer func() { _ = k.Close() }()
	reached := func(i int) {
		t.Helper()
		k.conn.Connect()
		for end := time.Now().Add(10 * time.Second); came[i].Load() == 0; time.Sleep(10 * time.Millisecond) { //nolint:forbidigo // a limit
			k.conn.Connect()
			if time.Now().After(end) { //nolint:forbidigo // a limit
				t.Fatalf("socket %d is not reached", i)
			}
		}
	}
	reached(0)
	k.way.follow()
	if came[1].Load() != 0 {
		t.Error("the new socket was used before the kubelet uses it")
	}
	now.Store("/new.sock")
	k.way.follow()
	reached(1)
}
