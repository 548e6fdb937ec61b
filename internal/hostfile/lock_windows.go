package hostfile

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

// TryLock takes an exclusive lock that lasts until the file is closed; ErrLocked if another
// process has it.
func TryLock(f *os.File) error {
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, beyond())
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return ErrLocked
	}
	if err != nil {
		return fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	return nil
}

// Locked reports whether another process has an exclusive lock.
func Locked(f *os.File) bool {
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, beyond())
	if err == nil {
		_ = windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, beyond()) // closing it does so too
	}
	return errors.Is(err, windows.ERROR_LOCK_VIOLATION)
}

// beyond is an offset after all data: on Windows a lock on data would prevent others from reading it.
func beyond() *windows.Overlapped { return &windows.Overlapped{OffsetHigh: 1 << 30} }
