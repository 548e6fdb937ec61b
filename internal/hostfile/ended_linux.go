package hostfile

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/unix"
)

// OfTask is the error of reading a link or file in a task's directory of procfs. Between the lookup and
// the read the task may end; the kernel then denies its links and calls its mount table invalid, as if
// a right were missing. The error is unix.ESRCH then. A zombie with threads has not ended.
func OfTask(dir string, err error) error {
	if !errors.Is(err, unix.EACCES) && !errors.Is(err, unix.EINVAL) {
		return err
	}
	t, statErr := ReadStat(dir, make([]byte, MaxStat))
	ended := errors.Is(statErr, fs.ErrNotExist) || errors.Is(statErr, unix.ESRCH)
	if ended || statErr == nil && (t.State == 'X' || t.State == 'Z' && t.Threads <= 1) {
		return &fs.PathError{Op: "read", Path: dir, Err: unix.ESRCH}
	}
	return err
}
