package hostfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
)

// replaced counts, so that two goroutines do not write the same temporary file.
var replaced atomic.Uint64

// Replace replaces a file atomically: after a crash at any moment it is the complete old or
// new one. A running program keeps its old file. The permissions are independent of the umask.
func Replace(path string, data []byte, perm fs.FileMode) error {
	dir := filepath.Dir(path)
	next := filepath.Join(dir, "."+filepath.Base(path)+".plumbline-"+strconv.Itoa(os.Getpid())+"-"+strconv.FormatUint(replaced.Add(1), 10))
	_ = os.Remove(next) // left by a killed process with the same PID
	err := create(next, data, perm)
	if err == nil {
		err = os.Rename(next, path)
	}
	if err != nil {
		if gone := os.Remove(next); !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
		return fmt.Errorf("replace %s: %w", path, err)
	}
	if err := SyncDir(dir); err != nil && !errors.Is(err, syscall.EINVAL) { // some file systems cannot
		return fmt.Errorf("replace %s: %w", path, err)
	}
	return nil
}

// create writes a new file and syncs it.
func create(path string, data []byte, perm fs.FileMode) error {
	f, err := Open(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(perm)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
