package observe

import (
	"fmt"
	"sync"
	"time"

	"plumbline.dev/plumbline/internal/model"
)

// Both books are looked at again in the same measure.
const (
	lookers = 8 // requests under way at once
	// ListAbove is from how many objects of a kind on the whole list is cheaper.
	ListAbove = 200
)

// Each reads refs, several at a time; read adds what it finds under the lock that it is
// given. It stops at nothing and gives the first error.
func Each(refs []model.Ref, read func(r model.Ref, lock sync.Locker) error) error {
	var mu sync.Mutex
	var wg sync.WaitGroup
	var failed error
	work := make(chan model.Ref)
	for range min(lookers, len(refs)) {
		wg.Go(func() {
			for r := range work {
				if err := read(r, &mu); err != nil {
					mu.Lock()
					if failed == nil {
						failed = fmt.Errorf("look at %s again: %w", r, err)
					}
					mu.Unlock()
				}
			}
		})
	}
	for _, r := range refs {
		work <- r
	}
	close(work)
	wg.Wait()
	return failed
}

// ReadInfo notes that a ref was answered at a time. The earliest is the look's own.
func (l *Reread) Note(at time.Time, refs ...model.Ref) {
	l.Read = append(l.Read, refs...)
	if l.At.IsZero() || (!at.IsZero() && at.Before(l.At)) {
		l.At = at
	}
}
