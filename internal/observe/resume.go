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

// ErrSilent is of a watch on which nothing came for longer than the server says that it is there:
// being open, it may have stood still.
var ErrSilent = errors.New("the server sends nothing")

// While a watch is broken, no changes arrive.
const (
	patience   = 2 * time.Minute // a watch that is broken for longer is an error
	firstPause = 20 * time.Millisecond
	maxPause   = 5 * time.Second
	steady     = 10 * time.Second // a watch that was open for so long worked, even without events
)

// Resume restarts a watch until ctx ends, the watch ends with an error other than Broken, or
// it has been broken for longer than patience. once runs the watch, calls opened when the server
// has taken it, and reports whether it received anything. A server that takes long to refuse a
// watch has not opened it.
func Resume(ctx context.Context, once func(ctx context.Context, opened func()) (heard bool, err error)) error {
	var brokenSince time.Time // zero: the watch has not failed yet
	pause := firstPause
	for {
		began := time.Now() //nolint:forbidigo // compared with itself alone
		var open time.Time
		heard, err := once(ctx, func() { open = time.Now() }) //nolint:forbidigo // compared with itself alone
		if ctx.Err() != nil {
			return ctx.Err()
		}
		var broken *Broken
		if !errors.As(err, &broken) {
			return err
		}
		now := time.Now() //nolint:forbidigo // compared with itself alone
		if heard || !open.IsZero() && !errors.Is(err, ErrSilent) && now.Sub(open) >= steady {
			brokenSince, pause = now, firstPause
		}
		switch {
		case !brokenSince.IsZero():
		case open.IsZero():
			brokenSince = began
		default:
			brokenSince = now // the connection may have died; the next one shows whether the server has
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
