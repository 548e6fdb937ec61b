package machine

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// A link is the way to the lab's agent in the machine. QEMU says when the agent opens
// and closes its end of the port; a connection from before is of no use, and QEMU takes
// only one.
type link struct {
	path    string
	dialing sync.Mutex // held while a connection is made

	mu   sync.Mutex
	open bool // the agent's end
	via  *connection
}

// A connection carries all requests, as HTTP/2.
type connection struct {
	conn net.Conn
	http *http.Transport
}

var errNoAgent = errors.New("the lab's agent in the machine does not answer (the machine boots, is off, or hangs)")

// errSpent means that a transport wants another connection than its only one.
var errSpent = errors.New("the connection has ended")

// agent notes that the agent opened or closed its end.
func (l *link) agent(open bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open = open
	l.closeLocked()
}

// drop closes a connection that is of no use any more.
func (l *link) drop(via *connection) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.via == via {
		l.closeLocked()
	}
}

func (l *link) closeLocked() {
	if l.via != nil {
		_ = l.via.conn.Close()
		l.via = nil
	}
}

func (l *link) current() (via *connection, open bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.via, l.open
}

// connect returns the one connection.
func (l *link) connect(ctx context.Context) (*connection, error) {
	l.dialing.Lock()
	defer l.dialing.Unlock()
	via, open := l.current()
	if !open {
		return nil, errNoAgent
	}
	if via != nil {
		return via, nil
	}
	// An agent that has not seen yet that the connection before was closed, because its machine
	// stood still, takes our first bytes for its continuation.
	via, err := l.dial(ctx)
	for try := 0; err != nil && try < 2 && ctx.Err() == nil; try++ {
		time.Sleep(time.Second)
		via, err = l.dial(ctx)
	}
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.via = via
	return via, nil
}

// dial makes a connection and tries it.
func (l *link) dial(ctx context.Context) (*connection, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", l.path)
	if err != nil {
		return nil, err
	}
	via := &connection{conn: conn, http: &http.Transport{
		Protocols:   new(http.Protocols),
		HTTP2:       &http.HTTP2Config{SendPingTimeout: 20 * time.Second, PingTimeout: time.Minute},
		DialContext: once(conn),
	}}
	via.http.Protocols.SetUnencryptedHTTP2(true)
	if err := via.hello(ctx); err != nil {
		_ = conn.Close()
		return nil, errors.Join(errNoAgent, err)
	}
	return via, nil
}

// hello makes the connection before others use it: two requests at once would dial twice.
func (c *connection) hello(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://machine/hello", nil)
	if err != nil {
		return err
	}
	resp, err := c.http.RoundTrip(r)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// once gives out the connection one time.
func once(conn net.Conn) func(context.Context, string, string) (net.Conn, error) {
	var taken sync.Once
	return func(context.Context, string, string) (out net.Conn, err error) {
		err = errSpent
		taken.Do(func() { out, err = conn, nil })
		return out, err
	}
}

// RoundTrip implements http.RoundTripper.
func (l *link) RoundTrip(r *http.Request) (*http.Response, error) {
	via, err := l.connect(r.Context())
	if err != nil {
		return nil, err
	}
	first := r.Clone(r.Context())
	if r.Body != nil {
		first.Body = &untouched{ReadCloser: r.Body}
	}
	resp, err := via.http.RoundTrip(first)
	if errors.Is(err, errSpent) { // it died meanwhile, and nothing was sent
		l.drop(via)
		if via, err = l.connect(r.Context()); err != nil {
			return nil, err
		}
		resp, err = via.http.RoundTrip(r)
	}
	if err != nil && r.Context().Err() == nil {
		l.drop(via)
	}
	return resp, err
}

// An untouched body stays open until it has been read from: a transport closes the body of a
// request that it could not send.
type untouched struct {
	io.ReadCloser
	read atomic.Bool
}

func (u *untouched) Read(p []byte) (int, error) {
	u.read.Store(true)
	return u.ReadCloser.Read(p)
}

func (u *untouched) Close() error {
	if !u.read.Load() {
		return nil
	}
	return u.ReadCloser.Close()
}
