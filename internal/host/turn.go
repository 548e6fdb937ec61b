package host

import (
	"context"
	"fmt"
)

// A turn is a lock that is not waited for any longer than a context allows.
type turn chan struct{}

func newTurn() turn { return make(turn, 1) }

func (t turn) take(ctx context.Context) error {
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for an earlier look to end: %w", ctx.Err())
	}
}

func (t turn) leave() { <-t }

// also is two things that went wrong, on one line.
func also(a, b error) error {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return fmt.Errorf("%w; %w", a, b)
}
