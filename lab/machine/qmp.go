package machine

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"sync"
	"time"
)

// qmp is QEMU's control connection: one JSON object per line.
type qmp struct {
	conn net.Conn
	mu   sync.Mutex // one command at a time
	said chan message
}

type message struct {
	Event string `json:"event"`
	Data  struct {
		ID   string `json:"id"`
		Open bool   `json:"open"`
	} `json:"data"`
	Error *struct {
		Desc string `json:"desc"`
	} `json:"error"`
	Return json.RawMessage `json:"return"`
}

// dialQMP connects and calls event for everything that QEMU reports, until it exits.
func dialQMP(ctx context.Context, path string, event func(message)) (*qmp, error) {
	conn, err := dialWhenThere(ctx, path)
	if err != nil {
		return nil, err
	}
	q := &qmp{conn: conn, said: make(chan message, 1)}
	go q.read(event)
	return q, q.do("qmp_capabilities")
}

// dialWhenThere waits until somebody listens.
func dialWhenThere(ctx context.Context, path string) (net.Conn, error) {
	for {
		conn, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
		if err == nil {
			return conn, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("reach QEMU: %w", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (q *qmp) read(event func(message)) {
	defer close(q.said)
	for in := bufio.NewScanner(q.conn); in.Scan(); {
		var m message
		if err := json.Unmarshal(in.Bytes(), &m); err != nil {
			return
		}
		switch {
		case m.Event != "":
			event(m)
		case m.Error != nil || m.Return != nil:
			q.said <- m
		}
	}
}

// do runs one command that has no arguments.
func (q *qmp) do(command string) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, err := fmt.Fprintf(q.conn, "{\"execute\": %q}\n", command); err != nil {
		return fmt.Errorf("QEMU, %s: %w", command, err)
	}
	select {
	case m, ok := <-q.said:
		if !ok {
			return fmt.Errorf("QEMU, %s: it exited", command)
		}
		if m.Error != nil {
			return fmt.Errorf("QEMU, %s: %s", command, m.Error.Desc)
		}
		return nil
	case <-time.After(10 * time.Second):
		return fmt.Errorf("QEMU, %s: no answer in 10 s", command)
	}
}
