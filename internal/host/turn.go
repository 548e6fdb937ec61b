package host

import (
	"context"
	"fmt"
)

// A turn is a lock that is waited for at most as long as a context allows.
type turn chan struct{}

func newTurn() turn { return make(turn, 1) }

func (t turn) take(ctx context.Context) error {
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for an earlier read to end: %w", ctx.Err())
	}
}

func (t turn) leave() { <-t }

// also joins two errors on one line.
func also(a, b error) error {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return fmt.Errorf("%w; %w", a, b)
}
