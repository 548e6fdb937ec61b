package cri

import (
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"

	"plumbline.dev/plumbline/internal/hostfile"
)

// inode returns the network namespace at a path of the host; 0 if it is gone.
//
// Links on the path (/var/run to /run) are the host's and must end inside root, not in our
// own files. And a file is a namespace only while one is mounted on it: afterwards it is an
// ordinary file whose inode means nothing.
func inode(root, p string) uint64 {
	if strings.HasPrefix(p, "/proc/") {
		link, err := os.Readlink(path.Join("/", root, p))
		if err != nil {
			return 0
		}
		return parseNSLink(link)
	}
	f, err := hostfile.Root(root).Open(p, unix.O_PATH)
	if err != nil {
		return 0
	}
	defer func() { _ = f.Close() }()
	fd := int(f.Fd())
	var fs unix.Statfs_t
	var st unix.Stat_t
	if unix.Fstatfs(fd, &fs) != nil || fs.Type != unix.NSFS_MAGIC || unix.Fstat(fd, &st) != nil {
		return 0
	}
	return st.Ino
}
