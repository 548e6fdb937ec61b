//go:build unix

package hostfile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
)

// TryLock takes an exclusive lock that lasts until the file is closed; ErrLocked if another
// process has it.
func TryLock(f *os.File) error {
	err := flock(f, syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrLocked
	}
	return err
}

// Locked reports whether another process has an exclusive lock.
func Locked(f *os.File) bool {
	err := flock(f, syscall.LOCK_SH|syscall.LOCK_NB)
	if err == nil {
		_ = flock(f, syscall.LOCK_UN) // closing it does so too
	}
	return errors.Is(err, syscall.EWOULDBLOCK)
}

// Lock waits for an exclusive lock until ctx ends. It waits in the kernel's queue, because
// callers that poll can starve. With an error it closes the file; a lock that is granted after
// the end of ctx is released.
func Lock(ctx context.Context, f *os.File) error {
	err := TryLock(f)
	if err == nil {
		return nil
	}
	if !errors.Is(err, ErrLocked) {
		return errors.Join(err, f.Close())
	}
	got := make(chan error)
	go func() {
		err := flock(f, syscall.LOCK_EX)
		select {
		case got <- err:
		case <-ctx.Done():
			_ = f.Close()
		}
	}()
	select {
	case err := <-got:
		if err != nil {
			return errors.Join(err, f.Close())
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func flock(f *os.File, how int) error {
	for {
		err := syscall.Flock(int(f.Fd()), how)
		switch {
		case err == nil, errors.Is(err, syscall.EWOULDBLOCK):
			return err
		case !errors.Is(err, syscall.EINTR):
			return fmt.Errorf("lock %s: %w", f.Name(), err)
		}
	}
}
