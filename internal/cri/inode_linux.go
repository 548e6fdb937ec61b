package cri

import (
	"errors"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"
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
	if root == "" {
		root = "/"
	}
	dir, err := unix.Open(root, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0
	}
	defer func() { _ = unix.Close(dir) }()
	fd, err := openIn(dir, p)
	if err != nil {
		return 0
	}
	defer func() { _ = unix.Close(fd) }()
	var fs unix.Statfs_t
	var st unix.Stat_t
	if unix.Fstatfs(fd, &fs) != nil || fs.Type != unix.NSFS_MAGIC || unix.Fstat(fd, &st) != nil {
		return 0
	}
	return st.Ino
}

// openIn opens a path with O_PATH, as if dir were the root.
func openIn(dir int, p string) (int, error) {
	fd, err := unix.Openat2(dir, p, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT})
	if !errors.Is(err, unix.ENOSYS) && !errors.Is(err, unix.EPERM) {
		return fd, err
	}
	// Before Linux 5.6, or if a seccomp filter blocks the call: handle the one link that
	// matters.
	if rest, ok := strings.CutPrefix(p, "/var/run/"); ok {
		p = "/run/" + rest
	}
	return unix.Openat(dir, strings.TrimPrefix(p, "/"), unix.O_PATH|unix.O_CLOEXEC, 0)
}
