package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// lockName is the file whose lock makes a keeper the only one. During an update there may
// be two, and what both took to the disk would be there twice.
const lockName = "keeper"

// alone waits until no other keeper works on this node.
func (k *Daemon) alone(ctx context.Context) (release func(), err error) {
	f, err := os.OpenFile(k.file(lockName), os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the keeper's lock: %w", err)
	}
	for waits := false; ; waits = true {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { _ = f.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return nil, errors.Join(fmt.Errorf("take the keeper's lock: %w", err), f.Close())
		}
		if !waits {
			k.Log.Info("waits for another keeper of this node to end")
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), f.Close())
		case <-time.After(tick):
		}
	}
}
