package machine

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"
)

// A link is the way to the lab's agent in the machine. QEMU says when the agent opens
// and closes its end of the port; a connection from before is of no use.
type link struct {
	path string

	mu   sync.Mutex
	open bool // the agent's end
	via  *http.Transport
}

var errNoAgent = errors.New("the lab's agent in the machine does not answer (the machine boots, is off, or hangs)")

func (l *link) agent(open bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open = open
	l.dropLocked()
}

func (l *link) drop(via *http.Transport) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.via == via {
		l.dropLocked()
	}
}

func (l *link) dropLocked() {
	if l.via != nil {
		l.via.CloseIdleConnections()
		l.via = nil
	}
}

// transport returns the one connection, which carries all requests.
func (l *link) transport(ctx context.Context) (*http.Transport, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.open {
		return nil, errNoAgent
	}
	if l.via != nil {
		return l.via, nil
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", l.path)
	if err != nil {
		return nil, err
	}
	via := &http.Transport{
		Protocols:   new(http.Protocols),
		HTTP2:       &http.HTTP2Config{SendPingTimeout: 20 * time.Second, PingTimeout: time.Minute},
		DialContext: once(conn),
	}
	via.Protocols.SetUnencryptedHTTP2(true)
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	hello, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://machine/hello", nil)
	if err != nil {
		return nil, err
	}
	resp, err := via.RoundTrip(hello)
	if err != nil {
		_ = conn.Close()
		return nil, errors.Join(errNoAgent, err)
	}
	l.via = via
	return via, resp.Body.Close()
}

// once gives out the connection one time: QEMU takes only one.
func once(conn net.Conn) func(context.Context, string, string) (net.Conn, error) {
	var taken sync.Once
	return func(context.Context, string, string) (out net.Conn, err error) {
		err = errNoAgent
		taken.Do(func() { out, err = conn, nil })
		return out, err
	}
}

// RoundTrip implements http.RoundTripper.
func (l *link) RoundTrip(r *http.Request) (*http.Response, error) {
	via, err := l.transport(r.Context())
	if err != nil {
		return nil, err
	}
	resp, err := via.RoundTrip(r)
	if err != nil && r.Context().Err() == nil {
		l.drop(via)
	}
	return resp, err
}
