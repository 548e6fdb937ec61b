package hostfile

import (
	"errors"
	"io/fs"
	"os"
	"path"

	"golang.org/x/sys/unix"
)

// Open opens a file or directory of the node with flags of open(2), without blocking on a
// pipe. With O_NOFOLLOW the last element must not be a link; with O_PATH nothing is opened
// that could act when it is.
func (r Root) Open(name string, flag int) (*os.File, error) {
	flag |= unix.O_CLOEXEC
	if flag&unix.O_PATH == 0 { // openat2 refuses other flags beside it
		flag |= unix.O_NONBLOCK | unix.O_NOCTTY
	}
	fd, err := r.openIn(name, flag)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) { // before Linux 5.6, or a seccomp filter
		fd, err = r.openResolved(name, flag)
	}
	var told *fs.PathError // of the root itself
	switch {
	case errors.As(err, &told):
		return nil, err
	case err != nil:
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(fd), name), nil
}

// maxRaces bounds how often an open is repeated. The kernel refuses a path with .. (RHEL's
// /var/run leads to ../run) if anything is mounted or renamed on the node meanwhile.
const maxRaces = 64

func (r Root) openIn(name string, flag int) (int, error) {
	dir, err := unix.Open(r.Path("/"), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, &fs.PathError{Op: "open", Path: string(r), Err: err}
	}
	defer func() { _ = unix.Close(dir) }()
	how := unix.OpenHow{Flags: uint64(flag), Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS}
	fd, err := unix.Openat2(dir, name, &how)
	for i := 0; i < maxRaces && (errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR)); i++ {
		fd, err = unix.Openat2(dir, name, &how)
	}
	return fd, err
}

// openResolved does without openat2. Whoever can exchange directories of the node while it
// runs can lead it elsewhere.
func (r Root) openResolved(name string, flag int) (int, error) {
	name = "/" + name
	dir, last := name, ""
	if flag&unix.O_NOFOLLOW != 0 {
		dir, last = path.Split(name)
	}
	dir, err := r.Resolve(dir)
	if err != nil {
		return -1, err
	}
	return unix.Open(r.Path(path.Join(dir, last)), flag|unix.O_NOFOLLOW, 0)
}

// ReadFile reads a regular file of the node of at most limit bytes.
func (r Root) ReadFile(name string, limit int64) ([]byte, error) {
	f, err := r.Open(name, unix.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return ReadOpen(f, limit)
}
