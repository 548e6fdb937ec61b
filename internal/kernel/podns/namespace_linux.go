package podns

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"plumbline.dev/plumbline/internal/hostfile"
)

// A Namespace is a network namespace other than the host's.
type Namespace struct {
	Inode  uint64
	Path   string // path on the host
	PIDs   int    // number of processes in it
	Pinned bool   // a file pins it

	ways  int    // number of known paths to it
	doors []door // some of them, the best first
}

// A door is a path by which a namespace can be opened from here.
type door struct {
	root hostfile.Root // the file system that path belongs to; empty for our own
	path string
}

// open does not block, even if the path now leads to something else.
func (d door) open() (*os.File, error) {
	if d.root == "" {
		f, err := os.Open(d.path)
		return f, hostfile.OfTask(strings.TrimSuffix(d.path, "/ns/net"), err) // a door of our own is a task's
	}
	return d.root.Open(d.path, unix.O_RDONLY|unix.O_NOFOLLOW)
}

// maxDoors is how many paths to a namespace are kept; processes come and go.
const maxDoors = 4

// errGone means that the namespace ended, or may have.
var errGone = errors.New("the network namespace is gone")

// open opens the namespace. It stays alive until the file is closed.
func (n *Namespace) open() (*os.File, error) {
	for _, d := range n.doors {
		f, err := d.open()
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ESRCH):
			continue
		case err != nil:
			return nil, fmt.Errorf("open the network namespace %s: %w", n.Path, err)
		}
		// The path may lead to another namespace by now.
		if inode, err := inodeOf(f); err == nil && inode == n.Inode {
			return f, nil
		}
		_ = f.Close()
	}
	if n.ways > len(n.doors) {
		return nil, fmt.Errorf("the network namespace %[2]s cannot be opened any more: none of %[1]d paths leads to it", len(n.doors), n.Path)
	}
	return nil, errGone
}

// inodeOf returns the inode of an open network namespace, and an error for any other file.
func inodeOf(f *os.File) (uint64, error) {
	fd := int(f.Fd())
	kind, err := unix.IoctlRetInt(fd, unix.NS_GET_NSTYPE)
	if err == nil && kind != unix.CLONE_NEWNET {
		err = unix.EINVAL
	}
	var st unix.Stat_t
	if err == nil {
		err = unix.Fstat(fd, &st)
	}
	if err != nil {
		return 0, fmt.Errorf("read %s: %w", f.Name(), err)
	}
	return st.Ino, nil
}
