package agent

import (
	"context"
	"sync"
	"time"

	"plumbline.dev/plumbline/internal/observe"
)

// A budget bounds memory over all nodes. Who takes more than is left waits, or is refused.
type budget struct {
	mu   sync.Mutex
	left int
}

// try takes n if it is left.
func (b *budget) try(n int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n > b.left {
		return false
	}
	b.left -= n
	return true
}

// budgetPause is how long one who waits looks away: frames are decoded in milliseconds.
const budgetPause = 5 * time.Millisecond

// take waits until n is left, and takes it.
func (b *budget) take(ctx context.Context, n int) error {
	for !b.try(n) {
		if err := observe.Wait(ctx, budgetPause); err != nil {
			return err
		}
	}
	return nil
}

func (b *budget) give(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left += n
}
