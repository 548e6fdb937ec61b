package journal

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

// plainly needs nothing here: opening a link or a pipe is seen by what the file is.
const plainly = 0

// lock keeps other processes out for as long as the file is open.
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

// locked tells whether a process has the log open for appending.
func locked(f *os.File) bool {
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, beyond())
	if err == nil {
		_ = windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, beyond()) // closing it does so too
	}
	return errors.Is(err, windows.ERROR_LOCK_VIOLATION)
}

// beyond is a place after all that is ever written: here a lock keeps others from reading.
func beyond() *windows.Overlapped { return &windows.Overlapped{OffsetHigh: 1 << 30} }
