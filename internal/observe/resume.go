package observe

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// A Broken is an error after which a watch can be taken up again where it was.
type Broken struct {
	Err   error
	After time.Duration // how long the server asked us to wait
}

func (b *Broken) Error() string { return b.Err.Error() }
func (b *Broken) Unwrap() error { return b.Err }

// How long a watch is taken up again without success before that is said, and how often it
// is tried. Whoever follows is blind meanwhile.
const (
	patience   = 2 * time.Minute
	firstPause = 20 * time.Millisecond
	maxPause   = 5 * time.Second
	steady     = 10 * time.Second // a watch that lasted so long was one, though nothing happened
)

// Resume runs a watch again and again, until ctx ends, it ends with anything but a Broken,
// or it was broken for too long. Once tells whether it heard anything.
func Resume(ctx context.Context, once func(ctx context.Context) (heard bool, err error)) error {
	var blind time.Time
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
			blind, pause = now, firstPause
		}
		if blind.IsZero() {
			blind = began
		}
		if now.Sub(blind) > patience {
			return fmt.Errorf("not heard for %s: %w", now.Sub(blind).Round(time.Second), broken.Err)
		}
		if err := Wait(ctx, max(pause, broken.After)); err != nil {
			return err
		}
		pause = min(2*pause, maxPause)
	}
}

// Wait lets time pass, unless ctx ends.
func Wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
