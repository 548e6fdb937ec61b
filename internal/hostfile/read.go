package hostfile

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// ErrTooBig means that a file exceeds the limit; nothing of it is returned.
var ErrTooBig = errors.New("the file exceeds the size limit")

// ReadFollow reads a regular file of at most limit bytes. It follows links: use it for files
// of this program's own container, or for paths that Root.Resolve returned.
func ReadFollow(path string, limit int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|noBlock, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return ReadOpen(f, limit)
}

// ReadOpen reads an open regular file of at most limit bytes.
func ReadOpen(f *os.File, limit int64) ([]byte, error) {
	if _, err := regular(f); err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(b)) > limit {
		return nil, fmt.Errorf("read %s: %w: more than %d bytes", f.Name(), ErrTooBig, limit)
	}
	return b, nil
}

// Names returns at most limit names of a directory, in no order; more reports that there are
// others.
func Names(d *os.File, limit int) (names []string, more bool, err error) {
	names, err = d.Readdirnames(limit + 1)
	if errors.Is(err, io.EOF) { // it is empty
		err = nil
	}
	return names[:min(len(names), limit)], len(names) > limit, err
}
