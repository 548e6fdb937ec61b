package ownerdb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"plumbline.dev/plumbline/internal/hostfile"
)

// lockWait is how long a caller waits for a lock; one change takes up to two. A lock is
// held for less than a millisecond, but on a node with all cores busy its holder may not be
// scheduled for a while, and with a hundred callers waiting that adds up.
const lockWait = 2 * time.Second

// disk is a directory that only this user can access.
type disk string

// private creates the directory if it does not exist. It refuses one that another user
// could have written to.
func private(dir string) (disk, error) {
	for _, d := range []struct {
		path string
		make os.FileMode
		mask os.FileMode
	}{{filepath.Dir(dir), 0o755, 0o022}, {dir, 0o700, 0o077}} {
		if err := os.MkdirAll(d.path, d.make); err != nil {
			return "", fmt.Errorf("open the ownership record: %w", err)
		}
		st, err := os.Lstat(d.path)
		if err != nil {
			return "", fmt.Errorf("open the ownership record: %w", err)
		}
		sys, ok := st.Sys().(*syscall.Stat_t)
		if !st.IsDir() || !ok || int(sys.Uid) != os.Geteuid() || st.Mode().Perm()&d.mask != 0 {
			return "", fmt.Errorf("open the ownership record: %s is not a directory that only this user can write (%s)", d.path, st.Mode())
		}
	}
	return disk(dir), nil
}

func (d disk) path(name string) string { return filepath.Join(string(d), name) }

func (d disk) Read(name string) ([]byte, error) {
	f, err := hostfile.Open(d.path(name), os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data := make([]byte, 1024)
	n := 0
	for {
		m, err := f.Read(data[n:])
		n += m
		switch {
		case errors.Is(err, io.EOF) || n > maxPage:
			return data[:n], nil
		case err != nil:
			return nil, err
		case n == len(data):
			data = append(data, make([]byte, len(data))...)
		}
	}
}

func (d disk) Write(name string, data []byte) error {
	f, err := hostfile.Open(d.path(name), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

func (d disk) Rename(from, to string) error { return os.Rename(d.path(from), d.path(to)) }

func (d disk) Remove(name string) error {
	if err := os.Remove(d.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (d disk) List() ([]string, error) {
	f, err := os.Open(string(d))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(maxList)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return names, err
}

// Lock takes a file lock. The kernel releases it when the process exits.
func (d disk) Lock(name string) (func(), error) {
	f, err := hostfile.Open(d.path(name), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	if err := hostfile.Lock(ctx, f); err != nil {
		return nil, fmt.Errorf("lock %s: %w", name, err)
	}
	return func() { _ = f.Close() }, nil
}
