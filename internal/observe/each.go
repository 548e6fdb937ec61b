package observe

import (
	"fmt"
	"sync"
	"time"

	"plumbline.dev/plumbline/internal/model"
)

// Limits of a reread, the same for Kubernetes and Calico.
const (
	readers = 8 // concurrent requests
	// ListAbove is the number of objects of a kind above which one list is cheaper.
	ListAbove = 200
)

// Each reads refs, several at a time; read adds its results while holding the lock that it
// gets. Each reads all refs even if some fail, and returns the first error.
func Each(refs []model.Ref, read func(r model.Ref, lock sync.Locker) error) error {
	var mu sync.Mutex
	var wg sync.WaitGroup
	var failed error
	work := make(chan model.Ref)
	for range min(readers, len(refs)) {
		wg.Go(func() {
			for r := range work {
				if err := read(r, &mu); err != nil {
					mu.Lock()
					if failed == nil {
						failed = fmt.Errorf("reread %s: %w", r, err)
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

// Note records that a server answered for the refs at a time. The earliest time is that of
// the reread, so that an age counted up to it is never too long.
func (l *Reread) Note(at time.Time, refs ...model.Ref) {
	l.Read = append(l.Read, refs...)
	if l.At.IsZero() || (!at.IsZero() && at.Before(l.At)) {
		l.At = at
	}
}
