package host

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// errTooBig means that a file exceeds its limit and was not read.
var errTooBig = errors.New("the file exceeds the size limit")

// Bounds of one file.
const (
	maxLine  = 4 << 10  // a short file of procfs
	maxTable = 16 << 20 // a mount table
	maxJSON  = 1 << 20
)

// slurp reads a file of procfs or sysfs directly, without the runtime's poller.
func slurp(path string, limit int) ([]byte, error) {
	b := make([]byte, 0, min(limit, maxLine)+1)
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer func() { _ = unix.Close(fd) }()
	for {
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		n, err := unix.Read(fd, b[len(b):cap(b)])
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return nil, &fs.PathError{Op: "read", Path: path, Err: err}
		case n == 0:
			return b, nil
		case len(b)+n > limit:
			return nil, fmt.Errorf("read %s: %w", path, errTooBig)
		}
		b = b[:len(b)+n]
	}
}

// gone reports whether an error only means that a process or file has ended meanwhile.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH)
}

// numbers lists the entries of a directory whose names are numbers, at most limit.
func numbers(dir string, limit int) (out []int, whole bool, err error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = d.Close() }()
	for {
		names, err := d.Readdirnames(1024)
		for _, name := range names {
			n, err := strconv.Atoi(name)
			if err != nil || n < 0 {
				continue
			}
			if len(out) == limit {
				return out, false, nil
			}
			out = append(out, n)
		}
		if errors.Is(err, io.EOF) {
			return out, true, nil
		}
		if err != nil {
			return out, false, err
		}
	}
}

// inside opens a file or directory of the host. Links in it are resolved as on the host,
// and never lead out of it.
func (h *Host) inside(path string) (*os.File, error) {
	root, err := unix.Open(h.o.Root, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: h.o.Root, Err: err}
	}
	defer func() { _ = unix.Close(root) }()
	flags := unix.O_RDONLY | unix.O_CLOEXEC | unix.O_NONBLOCK | unix.O_NOCTTY
	fd, err := unix.Openat2(root, path, &unix.OpenHow{Flags: uint64(flags), Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS})
	if errors.Is(err, unix.ENOSYS) { // before Linux 5.6
		fd, err = unix.Open(filepath.Join(h.o.Root, path), flags, 0)
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}

// content reads a regular file of the host.
func (h *Host) content(path string, limit int64) ([]byte, error) {
	f, err := h.inside(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, fmt.Errorf("read %s: not a regular file", path)
	}
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = fmt.Errorf("read %s: %w", path, errTooBig)
	}
	return b, err
}
