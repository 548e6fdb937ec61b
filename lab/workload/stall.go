package main

import (
	"context"
	"net"
	"sync"
	"time"
)

// A pod that cannot reach itself for a while runs on a machine that stands still: what
// it lost meanwhile says nothing about the network.
type stalls struct {
	mu  sync.Mutex
	all []span
}

type span struct{ from, to time.Time }

// stall is how slow an echo on loopback must be; normally it takes microseconds.
const stall = 250 * time.Millisecond

// watch sends a byte to itself again and again, and notes when that was slow.
func (s *stalls) watch(ctx context.Context) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }()
	out, err := (&net.Dialer{}).DialContext(ctx, "tcp", l.Addr().String())
	if err != nil {
		return err
	}
	defer func() { _ = out.Close() }()
	in, err := l.Accept()
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	b := []byte{1}
	for last := time.Now(); ctx.Err() == nil; {
		time.Sleep(every / 5)
		if _, err := out.Write(b); err != nil {
			return err
		}
		if _, err := in.Read(b); err != nil {
			return err
		}
		now := time.Now()
		s.note(last, now)
		last = now
	}
	return nil
}

func (s *stalls) note(from, to time.Time) {
	if to.Sub(from) < stall {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, span{from, to})
}

// during is how long the machine stood still in that time.
func (s *stalls) during(x span) (sum time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, y := range s.all {
		from, to := x.from, x.to
		if y.from.After(from) {
			from = y.from
		}
		if y.to.Before(to) {
			to = y.to
		}
		sum += max(0, to.Sub(from))
	}
	return sum
}
