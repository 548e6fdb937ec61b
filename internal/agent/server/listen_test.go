package server

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"testing"
)

// A connection holds one request: with HTTP/2 it would hold hundreds, each with a body in memory, of
// callers that nobody knows yet.
func TestListenOneRequestOfAConnection(t *testing.T) {
	t.Parallel()
	s := New(Config{Node: "n1", Log: slog.New(slog.DiscardHandler), Now: now})
	ctx, cancel := context.WithCancel(t.Context())
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	must(t, err)
	done := make(chan error)
	go func() { done <- s.Listen(ctx, l) }()
	d := tls.Dialer{Config: &tls.Config{NextProtos: []string{"h2", "http/1.1"}, InsecureSkipVerify: true}} //nolint:gosec // its own certificate
	conn, err := d.DialContext(ctx, "tcp", l.Addr().String())
	must(t, err)
	if is := conn.(*tls.Conn).ConnectionState().NegotiatedProtocol; is != "http/1.1" {
		t.Errorf("it speaks %q", is)
	}
	must(t, conn.Close())
	cancel()
	must(t, <-done)
}
