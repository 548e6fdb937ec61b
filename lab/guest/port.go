package main

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// serve answers requests on the port until it cannot be read. HTTP/2 carries many
// requests at once over the one stream that a serial port is.
func serve(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	for errors.Is(err, fs.ErrNotExist) { // udev is late
		time.Sleep(100 * time.Millisecond)
		f, err = os.OpenFile(path, os.O_RDWR, 0)
	}
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /hello", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("POST /exec", execute)
	s := http.Server{Handler: mux, Protocols: new(http.Protocols)}
	s.Protocols.SetUnencryptedHTTP2(true)
	return s.Serve(&sessions{port: f, free: make(chan struct{}, 1)})
}

// sessions is a listener: each time that the lab opens its end of the port is a
// connection.
type sessions struct {
	port *os.File
	free chan struct{} // holds an element while a session runs
}

func (s *sessions) Accept() (net.Conn, error) {
	s.free <- struct{}{}
	first := make([]byte, 1)
	for {
		// With nobody at the other end the kernel returns the end of the file.
		n, err := s.port.Read(first)
		if n == 1 {
			return &session{of: s, first: first}, nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func (s *sessions) Close() error   { return s.port.Close() }
func (s *sessions) Addr() net.Addr { return addr{} }

// A session is a connection that leaves the port open when it ends.
type session struct {
	of *sessions

	mu     sync.Mutex // held while the port is read
	first  []byte     // read before the session began
	closed atomic.Bool
}

func (c *session) Read(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed.Load() {
		return 0, net.ErrClosed
	}
	if len(c.first) > 0 && len(p) > 0 {
		n := copy(p, c.first)
		c.first = c.first[n:]
		return n, nil
	}
	return c.of.port.Read(p)
}

func (c *session) Write(p []byte) (int, error) {
	if c.closed.Load() {
		return 0, net.ErrClosed
	}
	return c.of.port.Write(p)
}

// Close ends a read that waits before the next session may begin: it would take the
// other's first bytes.
func (c *session) Close() error {
	if c.closed.Swap(true) {
		return nil
	}
	_ = c.of.port.SetDeadline(time.Unix(1, 0))
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.of.port.SetDeadline(time.Time{})
	<-c.of.free
	return nil
}

func (c *session) LocalAddr() net.Addr                { return addr{} }
func (c *session) RemoteAddr() net.Addr               { return addr{} }
func (c *session) SetDeadline(t time.Time) error      { return c.of.port.SetDeadline(t) }
func (c *session) SetReadDeadline(t time.Time) error  { return c.of.port.SetReadDeadline(t) }
func (c *session) SetWriteDeadline(t time.Time) error { return c.of.port.SetWriteDeadline(t) }

type addr struct{}

func (addr) Network() string { return "virtio" }
func (addr) String() string  { return port }
