package host

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// probeName is the process name of a probe, by which it recognizes itself.
const probeName = "plumbline-probe"

// probeAsking is its name once it asks: on a busy node that may be long after its start,
// which is not the file system's fault.
const probeAsking = "plumbline-asks"

// Exit codes of a probe.
const (
	probeAnswered = 0
	probeElse     = 3 // something else is mounted there
	probeNoWay    = 4 // the path cannot be reached
)

// ProbeMain asks one file system whether it answers, if this process was started for that,
// and reports so; then main must return. A main calls it first.
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

// probe takes a path and the device that should be mounted there. An error is an answer,
// too: for a FUSE mount whose server has exited the kernel itself returns ENOTCONN, for
// others ESTALE, EIO or EHOSTDOWN. Such a mount is broken, but nothing hangs in it, so it
// is not silent. If the path already gives an error, nothing was asked and there is no
// result.
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
	// This is known to the kernel: no server is asked.
	var x unix.Statx_t
	err = unix.Statx(fd, "", unix.AT_EMPTY_PATH|unix.AT_STATX_DONT_SYNC|unix.AT_NO_AUTOMOUNT, 0, &x)
	if err == nil && (uint64(x.Dev_major) != major || uint64(x.Dev_minor) != minor) {
		return probeElse
	}
	var s unix.Statfs_t
	_ = unix.Fstatfs(fd, &s)
	return probeAnswered
}
