package observe

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// A Broken is an error after which a watch can resume where it was.
type Broken struct {
	Err   error
	After time.Duration // Retry-After of the server; 0 if there is none
}

func (b *Broken) Error() string { return b.Err.Error() }
func (b *Broken) Unwrap() error { return b.Err }

// While a watch is broken, no changes arrive.
const (
	patience   = 2 * time.Minute // a watch that is broken for longer is an error
	firstPause = 20 * time.Millisecond
	maxPause   = 5 * time.Second
	steady     = 10 * time.Second // a watch that lasted so long worked, even without events
)

// Resume restarts a watch until ctx ends, the watch ends with an error other than Broken, or
// it has been broken for longer than patience. once runs the watch and reports whether it
// received anything.
func Resume(ctx context.Context, once func(ctx context.Context) (heard bool, err error)) error {
	var brokenSince time.Time // zero: the watch has not failed yet
	pause := firstPause
	for {
		began := time.Now() //nolint:forbidigo // compared with itself alone
		heard, err := once(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		var broken *Broken
		if !errors.As(err, &broken) {
			return err
		}
		now := time.Now() //nolint:forbidigo // compared with itself alone
		if heard || now.Sub(began) >= steady {
			brokenSince, pause = now, firstPause
		}
		if brokenSince.IsZero() {
			brokenSince = began
		}
		if now.Sub(brokenSince) > patience {
			return fmt.Errorf("watch interrupted for %s: %w", now.Sub(brokenSince).Round(time.Second), broken.Err)
		}
		if err := Wait(ctx, max(pause, broken.After)); err != nil {
			return err
		}
		pause = min(2*pause, maxPause)
	}
}

// Wait waits for d, or until ctx ends.
func Wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
