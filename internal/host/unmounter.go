package host

import (
	"bytes"
	"errors"
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// unmountName is what the child is called that unmounts: by it, it knows itself.
const unmountName = "plumbline-unmount"

// How it ends; else with the number of the error, when nothing was done.
const (
	unmountDone    = 0
	unmountRefused = 253 // another mount is there
	unmountElse    = 254
)

// unmountMain unmounts, if this process was started for that.
func unmountMain() bool {
	if len(os.Args) != 5 || os.Args[0] != unmountName {
		return false
	}
	if err := unmount(os.Args[1], os.Args[2], os.Args[3], os.Args[4] == "path"); err != nil {
		var no unix.Errno
		switch {
		case errors.Is(err, errOther):
			os.Exit(unmountRefused)
		case errors.As(err, &no) && no > 0 && no < unmountRefused:
			os.Exit(int(no))
		default:
			os.Exit(unmountElse)
		}
	}
	return true
}

var errOther = errors.New("another mount is there")

// unmount goes into a mount namespace and takes a mount away. It is held while it is
// compared, so that it is the one. To hold one of NFS asks its server: such a one is named
// by its path, which the kernel then follows without asking.
func unmount(space, target, id string, byPath bool) error {
	runtime.LockOSThread() // the thread is not used again
	if err := unix.Unshare(unix.CLONE_FS); err != nil {
		return err
	}
	ns, err := unix.Open(space, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	if err := unix.Setns(ns, unix.CLONE_NEWNS); err != nil {
		return err
	}
	if byPath {
		return unix.Unmount(target, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW)
	}
	fd, err := unix.Open(target, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	held := strconv.Itoa(fd)
	b, err := slurp("/proc/self/fdinfo/"+held, maxLine)
	if err != nil {
		return err
	}
	if mountOf(b) != id {
		return errOther
	}
	return unix.Unmount("/proc/self/fd/"+held, unix.MNT_DETACH)
}

// mountOf finds the mount that a descriptor is on.
func mountOf(fdinfo []byte) string {
	for line := range bytes.Lines(fdinfo) {
		if v, ok := bytes.CutPrefix(line, []byte("mnt_id:")); ok {
			return string(bytes.TrimSpace(v))
		}
	}
	return ""
}
