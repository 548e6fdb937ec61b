//go:build unix

package journal

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// plainly: do not follow links, do not block on pipes.
const plainly = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// lock takes an exclusive lock that lasts until the file is closed. It retries, because
// locked takes a shared lock for a moment.
func lock(f *os.File) error {
	for range 20 {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return fmt.Errorf("lock %s: %w", f.Name(), err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	return errInUse
}

// locked reports whether a process has the log open for appending.
func locked(f *os.File) bool {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	if err == nil {
		_ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) // closing it does so too
	}
	return errors.Is(err, syscall.EWOULDBLOCK)
}
