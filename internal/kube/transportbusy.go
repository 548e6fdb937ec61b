package kube

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"plumbline.dev/plumbline/internal/observe"
)

// A busyError is the answer of a server that asks to retry later.
type busyError struct {
	Wait time.Duration
	Said error
}

func (e *busyError) Error() string { return e.Said.Error() }
func (e *busyError) Unwrap() error { return e.Said }

// RetryAfter is how long to wait.
func (e *busyError) RetryAfter() time.Duration { return e.Wait }

// orBusy turns a refusal into a busyError if the answer says that it is temporary.
func orBusy(resp *http.Response, why error) error {
	after := resp.Header.Get("Retry-After")
	if resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusServiceUnavailable && after != "" {
		return &busyError{retryAfter(after, resp.Header.Get("Date")), why}
	}
	return why
}

// retryAfter reads how long to wait: a number of seconds, or a time by the server's own
// clock.
func retryAfter(after, date string) time.Duration {
	d := time.Second
	if n, err := strconv.Atoi(after); err == nil && n >= 0 {
		d = time.Duration(min(n, int(maxPause/time.Second))) * time.Second
	} else if until, err := http.ParseTime(after); err == nil {
		if now, err := http.ParseTime(date); err == nil {
			d = max(until.Sub(now), 0)
		}
	}
	return min(d, maxPause)
}

// A waitingLine queues requests while the server is busy. Only the first retries, when the
// server asks for it, and new ones queue behind it: a recovering server gets them one by
// one. The zero value is ready.
type waitingLine struct {
	mu    sync.Mutex
	stand []chan struct{} // the first has the turn
}

// join waits to be the first.
func (l *waitingLine) join(ctx context.Context) (leave func(), err error) {
	me := make(chan struct{})
	l.mu.Lock()
	if l.stand = append(l.stand, me); len(l.stand) == 1 {
		close(me)
	}
	l.mu.Unlock()
	leave = func() { l.leave(me) }
	select {
	case <-me:
		return leave, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}

func (l *waitingLine) leave(me chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, c := range l.stand {
		if c != me {
			continue
		}
		l.stand = append(l.stand[:i], l.stand[i+1:]...)
		if i == 0 && len(l.stand) > 0 {
			close(l.stand[0])
		}
		return
	}
}

func (l *waitingLine) empty() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.stand) == 0
}

// await waits until a time, unless the context ends before it.
func await(ctx context.Context, until time.Time) error {
	if end, ok := ctx.Deadline(); ok && end.Before(until) {
		return context.DeadlineExceeded
	}
	return observe.Wait(ctx, time.Until(until))
}
