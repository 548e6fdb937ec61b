//go:build e2e

package fleet

import (
	"flag"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab/e2e/outside"
)

var (
	relayAt = flag.String("relay", "", "inside of a lab: pass connections of this socket on to the API server")
	from    = flag.String("from", "", "with -relay: the other way, pass connections of this address on to the socket")
)

// TestMain is also the program that runs inside of each lab: a socket in the file system is the only way between networks.
func TestMain(m *testing.M) {
	flag.Parse()
	if *relayAt == "" {
		os.Exit(m.Run())
	}
	if *from != "" {
		l, err := net.Listen("tcp", *from)
		if err != nil {
			panic(err)
		}
		pass(l, "unix", *relayAt)
		return
	}
	l, err := net.Listen("unix", *relayAt)
	if err != nil {
		panic(err)
	}
	pass(l, "tcp", "192.168.77.254:6443")
}

// pass passes connections on until the listener is closed.
func pass(l net.Listener, network, to string) {
	for {
		in, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer func() { _ = in.Close() }()
			on, err := net.Dial(network, to)
			if err != nil {
				return
			}
			defer func() { _ = on.Close() }()
			go func() { _, _ = io.Copy(on, in); _ = on.Close() }()
			_, _ = io.Copy(in, on)
		}()
	}
}

// reach gives an address on this machine's loopback at which the API server of a lab answers.
func reach(t *testing.T, name string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(t.TempDir(), "s")
	relay := outside.Command(t.Context(), t, "do", "--name", name, "--", self, "-relay="+socket)
	if err := relay.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = relay.Process.Kill(); _ = relay.Wait() })
	for range 100 {
		if _, err := os.Stat(socket); err == nil {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go pass(l, "unix", socket)
	return l.Addr().String()
}
