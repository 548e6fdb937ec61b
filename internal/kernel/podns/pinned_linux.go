package podns

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"

	"golang.org/x/sys/unix"

	"plumbline.dev/plumbline/internal/hostfile"
)

// pins are the directories in which iproute2, container runtimes and Docker pin namespaces,
// as paths of the host. The first two are one directory on most hosts.
var pins = []string{"/run/netns", "/var/run/netns", "/run/docker/netns"}

// pinned finds files that pin namespaces.
func (c *census) pinned(root string) {
	if _, err := os.Stat(root); err != nil {
		c.partly(fmt.Errorf("open the host's file system: %w", err))
		return
	}
	for _, dir := range pins {
		if err := c.pinnedIn(hostfile.Root(root), dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			c.partly(fmt.Errorf("find network namespaces in %s: %w", dir, err))
		}
	}
}

func (c *census) pinnedIn(root hostfile.Root, dir string) error {
	d, err := root.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return err
	}
	defer d.Close()
	names, more, err := hostfile.Names(d, maxPins)
	if more {
		c.partly(fmt.Errorf("%s has more than %d files", dir, maxPins))
	}
	for _, name := range names {
		full := path.Join(dir, name)
		inode, err := pinnedBy(root, full)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				c.partly(err)
			}
			continue
		}
		if inode == 0 {
			continue
		}
		if n := c.meet(inode, full, door{root, full}); n != nil {
			n.Pinned = true
		}
	}
	return err
}

// pinnedBy returns the inode of the network namespace that a file pins; 0 if it is an
// ordinary file. Only namespace files are opened: opening others could hang.
func pinnedBy(root hostfile.Root, name string) (uint64, error) {
	p, err := root.Open(name, unix.O_PATH|unix.O_NOFOLLOW)
	if err != nil {
		return 0, err
	}
	defer p.Close()
	var st unix.Statfs_t
	if err := unix.Fstatfs(int(p.Fd()), &st); err != nil {
		return 0, fmt.Errorf("read %s: %w", name, err)
	}
	if st.Type != unix.NSFS_MAGIC {
		return 0, nil
	}
	f, err := os.Open("/proc/self/fd/" + strconv.Itoa(int(p.Fd())))
	if err != nil {
		return 0, fmt.Errorf("open the namespace %s: %w", name, err)
	}
	defer f.Close()
	inode, err := inodeOf(f)
	if errors.Is(err, unix.EINVAL) {
		return 0, nil // a namespace of another kind
	}
	return inode, err
}
