package hostfile

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// MaxStat is more than a stat file has.
const MaxStat = 4 << 10

// ReadStat reads the stat file in a task's directory of procfs. It is called thousands of
// times per read of a node, so the caller provides the buffer, of MaxStat bytes.
func ReadStat(dir string, buf []byte) (Task, error) {
	fd, err := unix.Open(dir+"/stat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return Task{}, &fs.PathError{Op: "open", Path: dir + "/stat", Err: err}
	}
	n, err := unix.Read(fd, buf)
	_ = unix.Close(fd)
	if err != nil {
		return Task{}, &fs.PathError{Op: "read", Path: dir + "/stat", Err: err}
	}
	return parseStat(buf[:max(n, 0)])
}
