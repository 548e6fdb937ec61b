package machine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"testing"
	"time"
)

// serve answers HTTP/2 on the next connection, as the agent in a machine does.
func serve(t *testing.T, l net.Listener) net.Conn {
	t.Helper()
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	one := make(chan net.Conn, 1)
	one <- conn
	s := &http.Server{Protocols: new(http.Protocols), Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) })}
	s.Protocols.SetUnencryptedHTTP2(true)
	go func() { _ = s.Serve(&listener{one: one, over: make(chan struct{}), addr: l.Addr()}) }()
	t.Cleanup(func() { _ = s.Close() })
	return conn
}

// A listener accepts one connection.
type listener struct {
	one  chan net.Conn
	over chan struct{}
	addr net.Addr
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.one:
		return c, nil
	case <-l.over:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error   { close(l.over); return nil }
func (l *listener) Addr() net.Addr { return l.addr }

// ended gives a link and the other end of its port.
func ended(t *testing.T) (*link, net.Listener) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "port")
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return &link{path: path}, l
}

// TestLink: a connection is made when the agent's end is open, is used for all requests,
// and is closed when that end closes, although a request waits.
func TestLink(t *testing.T) {
	t.Parallel()
	k, l := ended(t)
	ask := func() error {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://machine/x", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := k.RoundTrip(r)
		if err == nil {
			err = resp.Body.Close()
		}
		return err
	}
	if err := ask(); err == nil {
		t.Error("a machine that boots answers")
	}
	for range 2 { // boots
		k.agent(true)
		told := make(chan error, 3)
		for range 3 {
			go func() { told <- ask() }()
		}
		conn := serve(t, l)
		for range 3 {
			if err := <-told; err != nil {
				t.Error(err)
			}
		}
		k.agent(false)
		// The other end sees the end of the connection.
		_ = conn.SetReadDeadline(time.Now().Add(5 * time.Second))
		if err := ask(); err == nil {
			t.Error("a machine that is off answers")
		}
	}
}

// TestLinkDied: a connection that ended while nobody asked, as while a machine stands still, is
// replaced, and the request after it is answered.
func TestLinkDied(t *testing.T) {
	t.Parallel()
	k, l := ended(t)
	k.agent(true)
	for try := range 3 {
		told := make(chan error, 1)
		go func() {
			in, out := io.Pipe() // fails when it is read after it was closed
			go func() {
				_, _ = io.WriteString(out, "stdin")
				_ = out.Close()
			}()
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://machine/x", in)
			if err == nil {
				var resp *http.Response
				if resp, err = k.RoundTrip(r); err == nil {
					var echo []byte
					if echo, err = io.ReadAll(resp.Body); err == nil && string(echo) != "stdin" {
						err = fmt.Errorf("the body is %q", echo)
					}
					err = errors.Join(err, resp.Body.Close())
				}
			}
			told <- err
		}()
		conn := serve(t, l)
		if err := <-told; err != nil {
			t.Fatalf("request %d: %v", try, err)
		}
		_ = conn.Close()
		time.Sleep(time.Second) // the transport notices
	}
}
