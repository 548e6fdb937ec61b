package server

import (
	"context"
	"errors"
	"time"
)

// A turn lets one at a time read what may hang: a read that does costs one thread, however
// often somebody asks.
type turn struct{ taken chan struct{} }

func newTurn() *turn { return &turn{make(chan struct{}, 1)} }

var errHangs = errors.New("reading it does not come back")

// take reads, and comes back in time whatever hangs.
func take[T any](ctx context.Context, t *turn, within time.Duration, read func() (T, error)) (out T, err error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	select {
	case t.taken <- struct{}{}:
	case <-ctx.Done():
		return out, errHangs
	}
	type got struct {
		out T
		err error
	}
	done := make(chan got, 1)
	go func() {
		defer func() { <-t.taken }()
		v, err := read()
		done <- got{v, err}
	}()
	select {
	case g := <-done:
		return g.out, g.err
	case <-ctx.Done():
		return out, errHangs
	}
}
