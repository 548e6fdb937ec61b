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

// Held returns an error if the lease may no longer be ours: the caller must stop writing. It
// knows that also right after the machine was suspended.
func (l *Lease) Held() error {
	select {
	case <-l.lost:
		return errLost
	default:
	}
	if l.left() <= 0 {
		return errLost
	}
	return nil
}

var errLost = errors.New("the lease was lost: another apply may run")

// left is how long the lease may be relied on.
func (l *Lease) left() time.Duration {
	return leaseSafe - (l.uptime() - time.Duration(l.good.Load()))
}

// keep renews the lease until it is stopped or the lease is lost.
func (l *Lease) keep(ctx context.Context) {
	defer close(l.finished)
	next := renewEvery
	for {
		t := time.NewTimer(max(0, min(next, l.left())))
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
		if errors.Is(err, errHeld) || l.left() <= 0 {
			close(l.lost)
			return
		}
	}
}

// renew writes the lease again. On a conflict it rereads the lease: the change may be our
// own write whose answer was lost.
func (l *Lease) renew(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, max(0, l.left()))
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
