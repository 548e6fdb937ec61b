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

	"plumbline.dev/plumbline/internal/hostfile"
)

// openLogDir opens a directory of logs. The node's administrator may have put /var/log
// elsewhere; below that no link is followed, for pods may have been let in there.
func openLogDir(root, dir string) (*os.File, error) {
	parts := strings.Split(strings.Trim(filepath.Clean(dir), "/"), "/")
	base := min(2, len(parts))
	flags := func(i int) int { // of the i-th directory: only the last one is read
		if i < len(parts) {
			return unix.O_PATH | unix.O_DIRECTORY
		}
		return unix.O_RDONLY | unix.O_DIRECTORY
	}
	d, err := hostfile.Root(root).Open(filepath.Join(parts[:base]...), flags(base))
	for i := base; err == nil && i < len(parts); i++ {
		var fd int
		fd, err = unix.Openat(int(d.Fd()), parts[i], flags(i+1)|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
		_ = d.Close()
		d = os.NewFile(uintptr(fd), dir)
		if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENOTDIR) {
			err = errors.New("it is a link or no directory, which is not followed")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", dir, err)
	}
	return d, nil
}

// A seenFile is what a name in a directory is.
type seenFile struct {
	size     int64
	inode    uint64
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
	return f, seenFile{size: st.Size, inode: st.Ino, modified: time.Unix(st.Mtim.Unix())}, err
}

const maxZone = 64 << 10

// nodeZone is the zone that the node's own programs write their stamps in; nil if it is
// not known.
func nodeZone(root string) *time.Location {
	b, err := hostfile.Root(root).ReadFile("etc/localtime", maxZone)
	if errors.Is(err, fs.ErrNotExist) {
		return time.UTC
	}
	if err != nil {
		return nil
	}
	zone, err := time.LoadLocationFromTZData("node", b)
	if err != nil {
		return nil
	}
	return zone
}
