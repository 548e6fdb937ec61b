package write

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plumbline.dev/plumbline/internal/execute"
)

// When a lease is renewed, and when its holder stops relying on it: some seconds before
// others may take it.
const (
	renewEvery = 10 * time.Second
	renewAgain = 2 * time.Second // after a failed renewal
	renewWait  = 5 * time.Second
	leaseSafe  = (leaseSeconds - 5) * time.Second
)

// Lost is closed when the lease may no longer be ours: the caller must stop writing. It is
// not closed by Release or by the end of the context of Acquire.
func (l *Lease) Lost() <-chan struct{} { return l.lost }

// keep renews the lease until it is stopped or the lease is lost.
func (l *Lease) keep(ctx context.Context) {
	defer close(l.finished)
	next := renewEvery
	for {
		t := time.NewTimer(min(next, time.Until(l.good.Add(leaseSafe))))
		select {
		case <-ctx.Done():
			t.Stop()
			return
		case <-t.C:
		}
		err := l.renew(ctx)
		if ctx.Err() != nil {
			return
		}
		next = renewEvery
		if err != nil {
			next = renewAgain
		}
		if errors.Is(err, errHeld) || monotonic().Sub(l.good) >= leaseSafe {
			close(l.lost)
			return
		}
	}
}

// renew writes the lease again. On a conflict it rereads the lease: the change may be our
// own write whose answer was lost.
func (l *Lease) renew(ctx context.Context) error {
	ctx, cancel := context.WithDeadline(ctx, l.good.Add(leaseSafe))
	defer cancel()
	err := l.write(ctx, l.now.taken(l.id, l.clock.now()))
	if !errors.Is(err, execute.ErrStale) {
		return err
	}
	got, err := l.w.get(ctx, l.now.Metadata.Namespace)
	if err != nil && !errors.Is(err, errHeld) {
		return err
	}
	if got.lease.Spec.HolderIdentity != l.id {
		return errHeld // or somebody deleted it
	}
	l.now, l.clock = got.lease, got.clock
	return l.write(ctx, l.now.taken(l.id, l.clock.now()))
}

// Release gives the lease back, also after the end of the context of Acquire. A lease that
// was lost before is not an error.
func (l *Lease) Release(ctx context.Context) error {
	l.end()
	<-l.finished
	select {
	case <-l.lost:
		return nil
	default:
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), renewWait)
	defer cancel()
	for range 2 {
		o := l.now.taken(l.id, l.clock.now())
		o.Spec.HolderIdentity = ""
		err := l.write(ctx, o)
		if err == nil {
			return nil
		}
		got, lookErr := l.w.get(ctx, l.now.Metadata.Namespace)
		if lookErr != nil && !errors.Is(lookErr, errHeld) {
			return fmt.Errorf("release the lease: %w", errors.Join(err, lookErr))
		}
		if got.lease.Spec.HolderIdentity != l.id {
			return nil
		}
		l.now, l.clock = got.lease, got.clock
	}
	return errors.New("release the lease: no attempt succeeded; it expires by itself")
}
