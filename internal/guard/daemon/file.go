package daemon

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// read reads a regular file of at most so many bytes. Links are followed only where the
// file is our own: see tree for the host's.
func read(file string, most int64) ([]byte, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", file)
	}
	raw, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(raw)) > most {
		err = fmt.Errorf("%s has more than %d bytes", file, most)
	}
	return raw, err
}

// replace puts a file in the place of another in one step. A program that runs keeps its
// old file; one that is begun finds the old or the new, whole.
func replace(file string, raw []byte, perm fs.FileMode) error {
	next := filepath.Join(filepath.Dir(file), "."+filepath.Base(file)+".plumbline-"+strconv.Itoa(os.Getpid()))
	_ = os.Remove(next) // of one of our number that was killed
	err := write(next, raw, perm)
	if err == nil {
		err = os.Rename(next, file)
	}
	if err != nil {
		if gone := os.Remove(next); !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
		return fmt.Errorf("replace %s: %w", file, err)
	}
	return nil
}

func write(file string, raw []byte, perm fs.FileMode) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(raw)
	if err == nil {
		err = f.Chmod(perm) // whatever our umask is
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// settle makes a small file say something, and leaves it alone if it does.
func settle(file, text string) error {
	now, err := read(file, 4096)
	if err == nil && bytes.Equal(now, []byte(text)) {
		return nil
	}
	return replace(file, []byte(text), 0o644)
}

// remove removes a file that may not be there.
func remove(file string) error {
	if err := os.Remove(file); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
