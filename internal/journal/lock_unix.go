//go:build unix

package journal

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// plainly: neither through a link nor by waiting for a pipe.
const plainly = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// lock keeps other processes out for as long as the file is open. It asks more than once,
// because who looks at the history holds a lock for a moment.
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
	return ErrInUse
}

// locked tells whether a process has the log open for appending.
func locked(f *os.File) bool {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	if err == nil {
		_ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) // closing it does so too
	}
	return errors.Is(err, syscall.EWOULDBLOCK)
}
