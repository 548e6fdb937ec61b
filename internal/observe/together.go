package observe

import (
	"context"
	"sync"
)

// Together runs all at once. The first that ends with an error ends the others, and it is
// that error which is given.
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

// UntilEnd waits for the end of ctx: whoever has nothing to follow follows all the same.
func UntilEnd(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}
