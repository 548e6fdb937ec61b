package door

import (
	"context"
	"net"
	"net/netip"
	"testing"
)

// A conn is a connection that knows whether it was closed.
type conn struct {
	net.Conn
	closed bool
}

func (c *conn) Close() error { c.closed = true; return nil }

// Whoever opens many connections loses them to the others.
func TestPlaces(t *testing.T) {
	t.Parallel()
	p := newPlaces(nil)
	open := func(from string) (*conn, bool) {
		c := &conn{}
		placed := &placed{Conn: c, from: netip.MustParseAddr(from), of: p}
		ok := p.admit(placed)
		admitted(ConnContext(context.Background(), placed))
		return c, ok
	}
	var first []*conn
	for _, from := range []string{"10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"} {
		for i := range maxConnsOf {
			c, ok := open(from)
			if !ok {
				t.Fatalf("connection %d of %s is refused", i, from)
			}
			first = append(first, c)
		}
		if _, ok := open(from); ok {
			t.Errorf("%s has more than %d", from, maxConnsOf)
		}
	}
	if len(p.conns) != maxConns {
		t.Fatalf("%d connections", len(p.conns))
	}
	for i := range 32 {
		if _, ok := open("10.0.0.9"); !ok {
			t.Fatalf("connection %d of the ninth is refused", i)
		}
	}
	if len(p.conns) != maxConns {
		t.Errorf("%d connections", len(p.conns))
	}
	closed := 0
	for _, c := range first {
		if c.closed {
			closed++
		}
	}
	if closed != 32 {
		t.Errorf("%d were closed for 32 others", closed)
	}
	for _, c := range p.conns[:10] {
		_ = c.Close()
	}
	if len(p.conns) != maxConns-10 {
		t.Errorf("%d connections after ten were closed", len(p.conns))
	}
}

// Those whose callers were not admitted have fewer places, and take none from the others.
func TestStrangers(t *testing.T) {
	t.Parallel()
	p := newPlaces(nil)
	open := func(from string, known bool) (*conn, bool) {
		c := &conn{}
		placed := &placed{Conn: c, from: netip.MustParseAddr(from), of: p}
		ok := p.admit(placed)
		if known {
			admitted(ConnContext(context.Background(), placed))
		}
		return c, ok
	}
	friend, _ := open("10.0.0.1", true)
	for i := range 64 {
		for range 4 {
			open(netip.AddrFrom4([4]byte{10, 1, 0, byte(i)}).String(), false)
		}
	}
	strangers := 0
	for _, c := range p.conns {
		if !c.known {
			strangers++
		}
	}
	if strangers != maxStrangers || friend.closed {
		t.Errorf("%d strangers, the friend is closed: %t", strangers, friend.closed)
	}
	if _, ok := open("10.0.0.1", false); !ok {
		t.Error("another connection of the friend is refused")
	}
}
