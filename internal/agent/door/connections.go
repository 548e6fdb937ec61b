package door

import (
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
)

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
	by := map[netip.Addr]int{}
	for _, have := range p.conns {
		by[have.from]++
	}
	if by[c.from] >= maxConnsOf {
		return false
	}
	if len(p.conns) >= maxConns {
		most := c.from
		for from, n := range by {
			if n > by[most] {
				most = from
			}
		}
		if most == c.from {
			return false
		}
		at := slices.IndexFunc(p.conns, func(have *placed) bool { return have.from == most })
		_ = p.conns[at].Conn.Close()
		p.conns = slices.Delete(p.conns, at, at+1)
	}
	p.conns = append(p.conns, c)
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
	from netip.Addr
	of   *places
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
