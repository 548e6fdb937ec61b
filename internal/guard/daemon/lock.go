package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// lockName is the file whose lock makes a guard daemon the only one on the node. During an
// update there may be two, and both would copy the same events to disk. The other one may be
// of an earlier version, which locks oldLockName.
const (
	lockName    = "daemon"
	oldLockName = "keeper"
)

// alone waits until no other guard daemon runs on this node.
func (k *daemon) alone(ctx context.Context) (release func(), err error) {
	first, err := k.lock(ctx, oldLockName)
	if err != nil {
		return nil, err
	}
	second, err := k.lock(ctx, lockName)
	if err != nil {
		first()
		return nil, err
	}
	return func() { second(); first() }, nil
}

func (k *daemon) lock(ctx context.Context, name string) (release func(), err error) {
	f, err := os.OpenFile(k.file(name), os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the guard daemon's lock: %w", err)
	}
	for waits := false; ; waits = true {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { _ = f.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return nil, errors.Join(fmt.Errorf("take the guard daemon's lock: %w", err), f.Close())
		}
		if !waits {
			k.Log.Info("waiting for another guard daemon on this node to exit")
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), f.Close())
		case <-time.After(tick):
		}
	}
}
