package cri

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"syscall"

	"plumbline.dev/plumbline/internal/hostfile"
)

// A Socket returns where the node's runtime listens now, as a path of the node. A kubelet
// can be given another runtime while we run.
type Socket func() (string, error)

// At is a Socket that does not change.
func At(path string) Socket { return func() (string, error) { return path, nil } }

var errUnknown = errors.New("the kubelet's configuration names no runtime, and not exactly one of the usual sockets exists")

// Usual returns a Socket for the one that the kubelet names, or else for the only one of the
// usual paths that exists. If several exist it is unknown which one the kubelet uses, and a
// runtime without sandboxes would prove that nothing runs.
func Usual(root string, named func() string, usual ...string) Socket {
	return func() (string, error) {
		if s := named(); s != "" {
			return s, nil
		}
		var there []string
		for _, s := range usual {
			if _, err := hostfile.Root(root).Resolve(s); err == nil {
				there = append(there, s)
			}
		}
		if len(there) != 1 {
			return "", errUnknown
		}
		return there[0], nil
	}
}

// A way is our connection to the socket. What fails on it before the runtime can have heard
// of us is our own blindness: it says nothing about the runtime.
type way struct {
	node  hostfile.Root
	where Socket

	mu    sync.Mutex
	at    string   // the path of conn
	conn  net.Conn // nil when it has ended
	blind error    // why the last attempt did not reach a socket; nil if it did
}

func (w *way) dial(ctx context.Context) (net.Conn, error) {
	at, conn, err := w.reach(ctx)
	if err == nil {
		conn = &ending{conn, w}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at, w.conn, w.blind = at, conn, nil
	// A socket on which nobody listens is one that the runtime has left behind.
	if err != nil && !errors.Is(err, syscall.ECONNREFUSED) && ctx.Err() == nil {
		w.blind = err
	}
	return conn, err
}

func (w *way) reach(ctx context.Context) (at string, conn net.Conn, err error) {
	at, err = w.where()
	if err != nil {
		return "", nil, err
	}
	// Links are the node's: /var/run leads to its /run, not to this container's.
	path, err := w.node.Resolve("/" + at)
	if err != nil {
		return at, nil, fmt.Errorf("no socket of a container runtime at %s: %w", at, why(err))
	}
	conn, err = (&net.Dialer{}).DialContext(ctx, "unix", w.node.Path(path))
	if err != nil {
		return at, nil, fmt.Errorf("socket of the container runtime at %s: %w", at, why(err))
	}
	return at, conn, nil
}

// why is an error without the path, which is one of our own container.
func why(err error) error {
	var no syscall.Errno
	if errors.As(err, &no) {
		return no
	}
	return err
}

// follow returns an error while the kubelet's configuration names another socket than the one
// whose runtime still serves us: its kubelet may not have been restarted, and a runtime without
// sandboxes would prove that nothing runs. When that runtime ends, the next connection goes to
// the socket that is named then.
func (w *way) follow() error {
	at, err := w.where()
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil || w.conn == nil || at == w.at || w.same(at) {
		return nil //nolint:nilerr // a connection that is there is not worse for it
	}
	return fmt.Errorf("the kubelet's configuration names the container runtime at %s, and the one at %s still runs: which one has the pods is not known", at, w.at)
}

// same reports whether a path leads to the socket of the connection.
func (w *way) same(at string) bool {
	one, err := w.node.Resolve("/" + at)
	if err != nil {
		return false
	}
	other, err := w.node.Resolve("/" + w.at)
	return err == nil && one == other
}

// ending is a connection whose end is noted.
type ending struct {
	net.Conn
	way *way
}

func (e *ending) Close() error {
	e.way.mu.Lock()
	if e.way.conn == e {
		e.way.conn = nil
	}
	e.way.mu.Unlock()
	return e.Conn.Close()
}

// blindness is why the runtime was not reached, if that is not the runtime's doing.
func (w *way) blindness() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.blind
}
