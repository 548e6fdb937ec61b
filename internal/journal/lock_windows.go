package journal

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

// plainly needs no flags on Windows: openRegular checks the type of the file.
const plainly = 0

// lock takes an exclusive lock that lasts until the file is closed.
func lock(f *os.File) error {
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, beyond())
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return ErrInUse
	}
	if err != nil {
		return fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	return nil
}

// locked reports whether a process has the log open for appending.
func locked(f *os.File) bool {
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, beyond())
	if err == nil {
		_ = windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, beyond()) // closing it does so too
	}
	return errors.Is(err, windows.ERROR_LOCK_VIOLATION)
}

// beyond is an offset after all data: on Windows a lock on data would prevent others from reading it.
func beyond() *windows.Overlapped { return &windows.Overlapped{OffsetHigh: 1 << 30} }
