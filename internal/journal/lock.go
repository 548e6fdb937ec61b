package journal

import (
	"errors"
	"os"
	"time"

	"plumbline.dev/plumbline/internal/hostfile"
)

// lock takes an exclusive lock that lasts until the file is closed. It retries, because List
// takes a shared lock for a moment.
func lock(f *os.File) error {
	for range 20 {
		err := hostfile.TryLock(f)
		if !errors.Is(err, hostfile.ErrLocked) {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
	return errInUse
}
