package cri

import (
	"context"
	"fmt"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"plumbline.dev/plumbline/internal/observe"
)

// A status call reaches the shim of one pod, which may start a program for it (gVisor's does). One
// that hangs is waited for at most onePatience, in one of askers slots; one that was late before
// is asked after all others, and waited for up to latePatience.
const (
	askers       = 12
	onePatience  = 800 * time.Millisecond
	latePatience = 4 * time.Second
)

type key struct {
	id    string
	state int32
}

// known caches what does not change while an object is in one state: asking for 250
// sandboxes every time would cost the runtime more than everything else. It holds only
// objects of the last list.
type known[T any] struct {
	mu   sync.Mutex
	of   map[key]T
	late map[key]bool // did not answer; asked after all others, so that they never wait for it
}

// all returns the details of the keys and asks for unknown ones. gone are those that the
// runtime no longer has. Objects that did not answer are in neither, and the error reports
// them.
func (k *known[T]) all(ctx context.Context, keys []key, ask func(context.Context, string) (T, error)) (found map[key]T, gone map[key]bool, why error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	found, gone = make(map[key]T, len(keys)), map[key]bool{}
	var first, last []key
	for _, key := range keys {
		v, ok := k.of[key]
		switch {
		case ok:
			found[key] = v
		case k.late[key]:
			last = append(last, key)
		default:
			first = append(first, key)
		}
	}
	late := map[key]bool{}
	each(append(first, last...), func(key key, lock sync.Locker) {
		one, cancel := context.WithTimeout(ctx, k.patience(ctx, key, len(last)))
		defer cancel()
		v, err := ask(one, key.id)
		lock.Lock()
		defer lock.Unlock()
		switch {
		case status.Code(err) == codes.NotFound: // removed after the list was read
			gone[key] = true
		case err != nil:
			late[key] = true
			if why == nil {
				why = fmt.Errorf("%s: %w", key.id, plain(err))
			}
		default:
			found[key] = v
		}
	})
	k.of, k.late = found, late
	if why != nil {
		why = fmt.Errorf("%d of %d without their details, as %w: %w", len(late), len(keys), why, observe.ErrPartial)
	}
	return found, gone, why
}

// patience is how long one object is waited for. Late ones share the time that is left, so that
// each of them is asked.
func (k *known[T]) patience(ctx context.Context, of key, late int) time.Duration {
	end, ok := ctx.Deadline()
	if !k.late[of] || !ok {
		return onePatience
	}
	rounds := (late + askers - 1) / askers
	return min(latePatience, max(onePatience, time.Until(end)/time.Duration(rounds)))
}

// each calls do for all keys, a few at a time and in order.
func each(keys []key, do func(key, sync.Locker)) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	work := make(chan key)
	for range min(askers, len(keys)) {
		wg.Go(func() {
			for k := range work {
				do(k, &mu)
			}
		})
	}
	for _, k := range keys {
		work <- k
	}
	close(work)
	wg.Wait()
}
