package hostfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// ErrNotRegular means that a path is a directory, pipe, socket or device.
var ErrNotRegular = errors.New("not a regular file")

// Open opens a file. It does not follow a symbolic link in the last element of the path, and
// does not block on a pipe.
func Open(path string, flag int, perm fs.FileMode) (*os.File, error) {
	return os.OpenFile(path, flag|noFollow|noBlock, perm)
}

// OpenRegular opens an existing regular file, and returns its size.
func OpenRegular(path string, flag int) (*os.File, int64, error) {
	f, err := Open(path, flag, 0)
	if err != nil {
		return nil, 0, err
	}
	st, err := regular(f)
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, st.Size(), nil
}

// regular refuses an open file that is not a regular one: to read it could block.
func regular(f *os.File) (fs.FileInfo, error) {
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = fmt.Errorf("read %s: %w", f.Name(), ErrNotRegular)
	}
	return st, err
}
