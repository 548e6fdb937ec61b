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

// A status call reaches the shim of one pod, which may start a program for it (gVisor's does). A
// read waits for it onePatience, in one of askers slots; the call itself goes on for slowPatience,
// and a later read has its answer. A shim never has two of our calls.
const (
	askers       = 12
	onePatience  = 800 * time.Millisecond
	slowPatience = 30 * time.Second
)

type key struct {
	id    string
	state int32
}

// known caches what does not change while an object is in one state: asking for 250
// sandboxes every time would cost the runtime more than everything else. It holds only
// objects of the last list.
type known[T any] struct {
	reading sync.Mutex // held by a read

	mu   sync.Mutex // held for moments
	of   map[key]T
	late map[key]*call[T] // not answered yet
}

// A call is one question about one object. The fields are valid when done is closed.
type call[T any] struct {
	done  chan struct{}
	value T
	err   error
}

// all returns the details of the keys and asks for unknown ones. gone are those that the
// runtime no longer has. Objects that did not answer are in neither, and the error reports
// them.
func (k *known[T]) all(ctx context.Context, keys []key, ask func(context.Context, string) (T, error)) (found map[key]T, gone map[key]bool, why error) {
	k.reading.Lock()
	defer k.reading.Unlock()
	unknown := k.keep(keys)
	gone = map[key]bool{}
	late := 0
	each(unknown, func(key key, lock sync.Locker) {
		err := k.wait(ctx, key, ask)
		lock.Lock()
		defer lock.Unlock()
		switch {
		case err == nil:
		case status.Code(err) == codes.NotFound: // removed after the list was read
			gone[key] = true
		default:
			if late++; why == nil {
				why = fmt.Errorf("%s: %w", key.id, plain(err))
			}
		}
	})
	if why != nil {
		why = fmt.Errorf("%d of %d without their details, as %w: %w", late, len(keys), why, observe.ErrPartial)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	found = make(map[key]T, len(keys))
	for _, key := range keys {
		if v, ok := k.of[key]; ok {
			found[key] = v
		}
	}
	return found, gone, why
}

// keep forgets what is not among the keys and returns those that are not known.
func (k *known[T]) keep(keys []key) (unknown []key) {
	k.mu.Lock()
	defer k.mu.Unlock()
	of := make(map[key]T, len(keys))
	for _, key := range keys {
		if v, ok := k.of[key]; ok {
			of[key] = v
		} else {
			unknown = append(unknown, key)
		}
	}
	k.of = of
	return unknown
}

// wait asks about an object unless a call about it is under way, and waits for the answer; a
// moment only if it was late before.
func (k *known[T]) wait(ctx context.Context, of key, ask func(context.Context, string) (T, error)) error {
	k.mu.Lock()
	if _, ok := k.of[of]; ok { // it has just been answered
		k.mu.Unlock()
		return nil
	}
	c, slow := k.late[of]
	if c == nil {
		c = &call[T]{done: make(chan struct{})}
		if k.late == nil {
			k.late = map[key]*call[T]{}
		}
		k.late[of] = c
		go k.run(context.WithoutCancel(ctx), of, c, ask)
	}
	k.mu.Unlock()
	patience := onePatience
	if slow {
		patience /= 4
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-c.done:
		return c.err
	case <-timer.C:
		return errSilent
	case <-ctx.Done():
		return errSilent
	}
}

// run makes the call and keeps its answer.
func (k *known[T]) run(ctx context.Context, of key, c *call[T], ask func(context.Context, string) (T, error)) {
	ctx, cancel := context.WithTimeout(ctx, slowPatience)
	defer cancel()
	c.value, c.err = ask(ctx, of.id)
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.late, of)
	if c.err == nil {
		k.of[of] = c.value
	}
	close(c.done)
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
