//go:build e2e

package agents

import (
	"context"
	"testing"

	"plumbline.dev/plumbline/lab/load"
)

// rewrites writes pods again, through etcd, until it is stopped; it returns how many.
func (c *cluster) rewrites(t *testing.T, each int) (stop func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	type result struct {
		n   int
		err error
	}
	done := make(chan result, 1)
	go func() {
		n, err := load.Rewrite(ctx, c.Lab, each)
		done <- result{n, err}
	}()
	return func() int {
		cancel()
		r := <-done
		if r.err != nil {
			t.Error(r.err)
		}
		return r.n
	}
}
