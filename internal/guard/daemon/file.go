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

// read reads a regular file of at most most bytes. It follows links, so it is only for
// files of this container or for paths that tree has resolved.
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
		return nil, fmt.Errorf("%s is not a regular file", file)
	}
	raw, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(raw)) > most {
		err = fmt.Errorf("%s has more than %d bytes", file, most)
	}
	return raw, err
}

// replace replaces a file atomically. A running program keeps its old file; a program that
// starts gets the complete old or new one.
func replace(file string, raw []byte, perm fs.FileMode) error {
	next := filepath.Join(filepath.Dir(file), "."+filepath.Base(file)+".plumbline-"+strconv.Itoa(os.Getpid()))
	_ = os.Remove(next) // left by a killed process with the same PID
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
		err = f.Chmod(perm) // independent of the umask
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// settle writes a small file if its content differs.
func settle(file, text string) error {
	now, err := read(file, 4096)
	if err == nil && bytes.Equal(now, []byte(text)) {
		return nil
	}
	return replace(file, []byte(text), 0o644)
}

// remove removes a file; a missing one is not an error.
func remove(file string) error {
	if err := os.Remove(file); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
