package daemon

import (
	"context"
	"fmt"
	"os"

	"plumbline.dev/plumbline/internal/hostfile"
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
	f, err := hostfile.Open(k.file(name), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the guard daemon's lock: %w", err)
	}
	if hostfile.Locked(f) {
		k.Log.Info("waiting for another guard daemon on this node to exit")
	}
	if err := hostfile.Lock(ctx, f); err != nil {
		return nil, fmt.Errorf("take the guard daemon's lock: %w", err)
	}
	return func() { _ = f.Close() }, nil
}
