package server

import (
	"net"
	"sync"
)

// maxConns bounds concurrent connections: whoever can reach the node's address can open
// connections, and they must not exhaust the agent's memory.
const maxConns = 128

// places is a listener with a bounded number of connections.
type places struct {
	net.Listener
	free chan struct{}
}

func newPlaces(l net.Listener) *places { return &places{l, make(chan struct{}, maxConns)} }

func (p *places) Accept() (net.Conn, error) {
	p.free <- struct{}{}
	c, err := p.Listener.Accept()
	if err != nil {
		<-p.free
		return nil, err
	}
	return &placed{Conn: c, leave: sync.OnceFunc(func() { <-p.free })}, nil
}

type placed struct {
	net.Conn
	leave func()
}

func (c *placed) Close() error {
	defer c.leave()
	return c.Conn.Close()
}
