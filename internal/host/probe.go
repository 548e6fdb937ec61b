package host

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// probeName is what a probe is called: by it, it knows itself.
const probeName = "plumbline-probe"

// probeAsking is what it calls itself once it asks: on a busy node that may be long after
// it was started, and is not the file system's fault.
const probeAsking = "plumbline-asks"

// How a probe ends.
const (
	probeAnswered = 0
	probeElse     = 3 // something else is mounted there
	probeNoWay    = 4 // the path leads nowhere
)

// ProbeMain asks one file system whether it is there, if this process was started for
// that: then it tells so, and main has nothing else to do. A main calls it before all else.
func ProbeMain() bool {
	if len(os.Args) == 0 || os.Args[0] != probeName {
		return false
	}
	_ = os.WriteFile("/proc/self/comm", []byte(probeAsking), 0)
	if code := probe(os.Args[1:]); code != probeAnswered {
		os.Exit(code)
	}
	return true
}

// probe takes a path and the device that should be there. An error is an answer, too: of a
// FUSE mount whose server has died the kernel itself says ENOTCONN, as of others ESTALE, EIO
// or EHOSTDOWN. Such a mount is broken, but nobody hangs in it, so it is not silent. Where
// already the way there gives an error, nothing was asked and nothing is said.
func probe(args []string) int {
	if len(args) != 3 {
		return probeNoWay
	}
	major, _ := strconv.ParseUint(args[1], 10, 32)
	minor, _ := strconv.ParseUint(args[2], 10, 32)
	fd, err := unix.Open(args[0], unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return probeNoWay
	}
	// What is known of it here: nobody is asked for that.
	var x unix.Statx_t
	err = unix.Statx(fd, "", unix.AT_EMPTY_PATH|unix.AT_STATX_DONT_SYNC|unix.AT_NO_AUTOMOUNT, 0, &x)
	if err == nil && (uint64(x.Dev_major) != major || uint64(x.Dev_minor) != minor) {
		return probeElse
	}
	var s unix.Statfs_t
	_ = unix.Fstatfs(fd, &s)
	return probeAnswered
}
