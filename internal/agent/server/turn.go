package server

import (
	"context"
	"errors"
	"time"
)

// A turn admits one reader at a time to files that may hang: a hanging read costs one
// thread, however often it is requested.
type turn struct{ taken chan struct{} }

func newTurn() *turn { return &turn{make(chan struct{}, 1)} }

var errHangs = errors.New("the read does not return")

// take reads, and returns in time whatever hangs. A read that hangs keeps the turn.
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
