package server

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const openDir = unix.O_DIRECTORY | unix.O_CLOEXEC

// inRoot opens a file or directory of the node. Links are the node's: they lead where they
// lead there.
func inRoot(root, path string, flags int) (int, error) {
	top, err := unix.Open(root, unix.O_PATH|openDir, 0)
	if err != nil {
		return -1, &fs.PathError{Op: "open", Path: root, Err: err}
	}
	defer func() { _ = unix.Close(top) }()
	fd, err := unix.Openat2(top, path, &unix.OpenHow{Flags: uint64(flags), Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS})
	if errors.Is(err, unix.ENOSYS) { // before Linux 5.6
		fd, err = unix.Open(filepath.Join(root, path), flags, 0)
	}
	if err != nil {
		return -1, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return fd, nil
}

// openLogDir opens a directory of logs. The node's administrator may have put /var/log
// elsewhere; below that no link is followed, for pods may have been let in there.
func openLogDir(root, dir string) (*os.File, error) {
	parts := strings.Split(strings.Trim(filepath.Clean(dir), "/"), "/")
	base := min(2, len(parts))
	flags := unix.O_PATH | openDir
	if base == len(parts) {
		flags = unix.O_RDONLY | openDir
	}
	fd, err := inRoot(root, filepath.Join(parts[:base]...), flags)
	for i := base; err == nil && i < len(parts); i++ {
		if i == len(parts)-1 {
			flags = unix.O_RDONLY | openDir
		}
		var next int
		next, err = unix.Openat(fd, parts[i], flags|unix.O_NOFOLLOW, 0)
		_ = unix.Close(fd)
		fd = next
		if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENOTDIR) {
			err = errors.New("it is a link or no directory, which is not followed")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", dir, err)
	}
	return os.NewFile(uintptr(fd), dir), nil
}

// A seenFile is what a name in a directory is.
type seenFile struct {
	size     int64
	modified time.Time
}

var errNoFile = errors.New("it is no ordinary file")

// openLog opens an ordinary file of a directory, and nothing else: neither a link, nor a
// pipe, nor a device, which to open may be to act.
func openLog(dir *os.File, name string) (*os.File, seenFile, error) {
	fd, err := unix.Openat(int(dir.Fd()), name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, seenFile{}, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	defer func() { _ = unix.Close(fd) }()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, seenFile{}, &fs.PathError{Op: "stat", Path: name, Err: err}
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil, seenFile{}, fmt.Errorf("open %s: %w", name, errNoFile)
	}
	// The very file that was looked at, whatever the name has become.
	f, err := os.OpenFile("/proc/self/fd/"+strconv.Itoa(fd), os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOATIME, 0)
	if errors.Is(err, unix.EPERM) { // only its owner may leave no trace
		f, err = os.OpenFile("/proc/self/fd/"+strconv.Itoa(fd), os.O_RDONLY|unix.O_NONBLOCK, 0)
	}
	return f, seenFile{size: st.Size, modified: time.Unix(st.Mtim.Unix())}, err
}

const maxZone = 64 << 10

// nodeZone is the zone that the node's own programs write their stamps in; nil if it is
// not known.
func nodeZone(root string) *time.Location {
	fd, err := inRoot(root, "etc/localtime", unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK)
	if errors.Is(err, fs.ErrNotExist) {
		return time.UTC
	}
	if err != nil {
		return nil
	}
	f := os.NewFile(uintptr(fd), "localtime")
	defer func() { _ = f.Close() }()
	b := make([]byte, maxZone)
	n, err := f.Read(b)
	if err != nil {
		return nil
	}
	zone, err := time.LoadLocationFromTZData("node", b[:n])
	if err != nil {
		return nil
	}
	return zone
}
