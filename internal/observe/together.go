package observe

import (
	"context"
	"sync"
)

// Together runs all functions concurrently. The first error cancels the others and is returned.
func Together(ctx context.Context, fs ...func(ctx context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	for _, f := range fs {
		wg.Go(func() {
			if err := f(ctx); err != nil {
				cancel(err)
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// UntilEnd waits until ctx ends: a Follower without anything to watch uses it.
func UntilEnd(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}
