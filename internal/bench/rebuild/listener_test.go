//go:build e2e

package rebuild

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/agent/door"
	"plumbline.dev/plumbline/internal/agent/server"
	"plumbline.dev/plumbline/internal/model"
)

// A desk is the listener of one node's agent: it gets its connections from the shared
// port.
type desk struct {
	addr  net.Addr
	calls chan net.Conn
	over  <-chan struct{}
	quiet atomic.Bool
	lines sync.Map // that are open
}

// A line is a connection that its desk can close.
type line struct {
	net.Conn
	of *desk
}

func (l *line) Close() error {
	l.of.lines.Delete(l)
	return l.Conn.Close()
}

// hush makes the agent not answer from now on, also on open connections.
func (d *desk) hush() {
	d.quiet.Store(true)
	d.lines.Range(func(l, _ any) bool { return l.(*line).Close() != nil || true })
}

func (d *desk) Accept() (net.Conn, error) {
	select {
	case c := <-d.calls:
		return c, nil
	case <-d.over:
		return nil, net.ErrClosed
	}
}

func (d *desk) Close() error   { return nil }
func (d *desk) Addr() net.Addr { return d.addr }

// answer starts the real agent of every node behind one port; the destination address
// identifies the node.
func (c *cluster) answer(t *testing.T, review door.Reviewer) {
	t.Helper()
	ctx := t.Context()
	door, err := (&net.ListenConfig{}).Listen(ctx, "tcp4", net.JoinHostPort("0.0.0.0", itoa(agent.Port)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = door.Close() })
	by := map[netip.Addr]*host{}
	for _, h := range c.hosts {
		h.desk = &desk{addr: door.Addr(), calls: make(chan net.Conn, 64), over: ctx.Done()}
		by[h.ip] = h
		s := server.New(server.Config{
			Node: h.name, Version: "size", Collectors: collectors(h), Review: review, Log: slog.New(slog.DiscardHandler), Now: time.Now,
			Calls: func(context.Context) ([]model.Process, error) { return nil, nil },
			Lease: &lease{c: c, node: h.name},
		})
		go s.Run(ctx)
		go func() {
			if err := s.Listen(ctx, h.desk); err != nil && ctx.Err() == nil && !errors.Is(err, net.ErrClosed) {
				t.Errorf("agent of %s: %v", h.name, err)
			}
		}()
	}
	go admit(ctx, door, by)
}

func admit(ctx context.Context, door net.Listener, by map[netip.Addr]*host) {
	for {
		conn, err := door.Accept()
		if err != nil {
			return // the test is over
		}
		called, _ := netip.ParseAddrPort(conn.LocalAddr().String())
		h := by[called.Addr().Unmap()]
		switch {
		case h == nil || h.desk.quiet.Load() && !h.hangs:
			_ = conn.Close()
		case h.desk.quiet.Load():
			context.AfterFunc(ctx, func() { _ = conn.Close() })
		default:
			l := &line{conn, h.desk}
			h.desk.lines.Store(l, nil)
			select {
			case h.desk.calls <- l:
			default:
				_ = l.Close()
			}
		}
	}
}
