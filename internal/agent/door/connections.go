package door

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
)

// Limits of concurrent connections: whoever can reach the node's address can open some, and
// they must not exhaust memory, nor keep others out.
const (
	maxConns   = 256
	maxConnsOf = 64 // from one address
	// maxStrangers bounds those whose caller was not admitted yet: before that a connection takes
	// memory for TLS and headers.
	maxStrangers = 64
)

// MaxHeaders is how large the headers of a request may be: a token of 16 KiB and little else.
const MaxHeaders = 32 << 10

// places is a listener with a bounded number of connections. If all places are taken, a new
// connection takes that of the oldest one from the address that has most.
type places struct {
	net.Listener

	mu    sync.Mutex
	conns []*placed // oldest first
}

// Listener bounds the connections of l.
func Listener(l net.Listener) net.Listener { return newPlaces(l) }

func newPlaces(l net.Listener) *places { return &places{Listener: l} }

func (p *places) Accept() (net.Conn, error) {
	for {
		c, err := p.Listener.Accept()
		if err != nil {
			return nil, err
		}
		placed := &placed{Conn: c, from: sourceOf(c.RemoteAddr().String()), of: p}
		if p.admit(placed) {
			return placed, nil
		}
		_ = c.Close()
	}
}

// admit gives a connection a place, if its address does not have too many.
func (p *places) admit(c *placed) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, have := range p.conns {
		if have.from == c.from {
			n++
		}
	}
	if n >= maxConnsOf {
		return false
	}
	anybody := func(*placed) bool { return true }
	stranger := func(have *placed) bool { return !have.known }
	if !p.room(c.from, maxStrangers, stranger) || !p.room(c.from, maxConns, anybody) {
		return false
	}
	p.conns = append(p.conns, c)
	return true
}

// room makes a place for a connection from an address if as many of which have all of them: it
// closes the oldest from the address that has most. It fails if that is the address itself.
func (p *places) room(of netip.Addr, most int, which func(*placed) bool) bool {
	by, all := map[netip.Addr]int{}, 0
	for _, have := range p.conns {
		if which(have) {
			by[have.from]++
			all++
		}
	}
	if all < most {
		return true
	}
	worst := of
	for from, n := range by {
		if n > by[worst] {
			worst = from
		}
	}
	if worst == of {
		return false
	}
	at := slices.IndexFunc(p.conns, func(have *placed) bool { return have.from == worst && which(have) })
	_ = p.conns[at].Conn.Close()
	p.conns = slices.Delete(p.conns, at, at+1)
	return true
}

func (p *places) leave(c *placed) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at := slices.Index(p.conns, c); at >= 0 {
		p.conns = slices.Delete(p.conns, at, at+1)
	}
}

type placed struct {
	net.Conn
	from  netip.Addr
	of    *places
	known bool // its caller was admitted; guarded by of.mu
}

type placedKey struct{}

// ConnContext lets a Door note which connections have a caller that it admitted. Servers behind a
// Listener use it.
func ConnContext(ctx context.Context, c net.Conn) context.Context {
	if over, ok := c.(interface{ NetConn() net.Conn }); ok { // TLS
		c = over.NetConn()
	}
	if p, ok := c.(*placed); ok {
		return context.WithValue(ctx, placedKey{}, p)
	}
	return ctx
}

// admitted notes that the caller of a connection is known.
func admitted(ctx context.Context) {
	if c, ok := ctx.Value(placedKey{}).(*placed); ok {
		c.of.mu.Lock()
		c.known = true
		c.of.mu.Unlock()
	}
}

func (c *placed) Close() error {
	defer c.of.leave(c)
	return c.Conn.Close()
}

// Protocols is HTTP/1 alone: a connection then holds one request, so what bounds connections
// bounds the memory that callers hold before they are known.
func Protocols() *http.Protocols {
	p := new(http.Protocols)
	p.SetHTTP1(true)
	return p
}
