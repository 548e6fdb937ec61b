package lab

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A Proxy forwards connections to one address, and breaks them on request.
type Proxy struct {
	Addr string
	Cuts atomic.Int64 // how many connections were broken

	to   string
	mu   sync.Mutex
	open map[net.Conn]bool
	most atomic.Int64 // bytes of the response after which a connection breaks; 0: never
}

// StartProxy listens until the test ends.
func StartProxy(t testing.TB, to string) *Proxy {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{Addr: l.Addr().String(), to: to, open: map[net.Conn]bool{}}
	t.Cleanup(func() { _ = l.Close(); p.Cut() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go p.pass(c)
		}
	}()
	return p
}

// CutAfter breaks every new connection after that many bytes of the response.
func (p *Proxy) CutAfter(bytes int64) { p.most.Store(bytes) }

// Open is the number of open connections.
func (p *Proxy) Open() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.open)
}

// Cut breaks all open connections.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.open {
		p.Cuts.Add(1)
		_ = c.Close()
	}
}

func (p *Proxy) pass(in net.Conn) {
	out, err := net.DialTimeout("tcp", p.to, 5*time.Second)
	if err != nil {
		_ = in.Close()
		return
	}
	p.mu.Lock()
	p.open[in] = true
	p.mu.Unlock()
	defer func() {
		_, _ = in.Close(), out.Close()
		p.mu.Lock()
		delete(p.open, in)
		p.mu.Unlock()
	}()
	go func() {
		_, _ = io.Copy(out, in)
		_ = out.Close()
	}()
	var from io.Reader = out
	if most := p.most.Load(); most > 0 {
		from = io.LimitReader(out, most)
	}
	if n, _ := io.Copy(in, from); n == p.most.Load() {
		p.Cuts.Add(1)
	}
}
