package hostfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// firstRead is more than most files of procfs and sysfs have.
const firstRead = 4 << 10

// Read reads a regular file of at most limit bytes. It does not follow a link in the last
// element, and does not use the runtime's poller, which files of procfs would be added to.
func Read(path string, limit int) ([]byte, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|noFollow|noBlock, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer func() { _ = unix.Close(fd) }()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil, fmt.Errorf("read %s: %w", path, ErrNotRegular)
	}
	b, err := readAll(fd, limit)
	if errors.Is(err, ErrTooBig) {
		return nil, fmt.Errorf("read %s: %w: more than %d bytes", path, err, limit)
	}
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: path, Err: err}
	}
	return b, nil
}

func readAll(fd, limit int) ([]byte, error) {
	b := make([]byte, 0, min(limit, firstRead)+1)
	for {
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		n, err := unix.Read(fd, b[len(b):cap(b)])
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return nil, err
		case n == 0:
			return b, nil
		case len(b)+n > limit:
			return nil, ErrTooBig
		}
		b = b[:len(b)+n]
	}
}

// Numbers returns at most limit entries of a directory whose names are numbers, as procfs
// names processes, threads and open files; more reports that there are others.
func Numbers(dir string, limit int) (numbers []int, more bool, err error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = d.Close() }()
	for {
		names, err := d.Readdirnames(1024)
		for _, name := range names {
			n, err := strconv.ParseUint(name, 10, 31)
			if err != nil {
				continue
			}
			if len(numbers) == limit {
				return numbers, true, nil
			}
			numbers = append(numbers, int(n))
		}
		if errors.Is(err, io.EOF) {
			return numbers, false, nil
		}
		if err != nil {
			return numbers, false, err
		}
	}
}
