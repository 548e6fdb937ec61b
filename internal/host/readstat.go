package host

import (
	"strings"

	"golang.org/x/sys/unix"
)

// readStat reads the stat file of a task; false if it has ended meanwhile. It is called
// thousands of times per read, so the caller provides the buffer.
func readStat(dir string, buf []byte) (task, bool) {
	fd, err := unix.Open(dir+"/stat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return task{}, false
	}
	n, err := unix.Read(fd, buf)
	_ = unix.Close(fd)
	if err != nil || n <= 0 {
		return task{}, false
	}
	t, err := parseStat(buf[:n])
	return t, err == nil
}

// waitsIn is the kernel function that a task waits in; empty if it does not wait.
func waitsIn(dir string) string {
	b, err := slurp(dir+"/wchan", maxLine)
	if err != nil {
		return ""
	}
	name := strings.TrimSpace(string(b))
	if name == "0" {
		return ""
	}
	return name
}

func readStatus(dir string) status {
	b, err := slurp(dir+"/status", maxTable)
	if err != nil {
		return status{}
	}
	return parseStatus(b)
}

func readOwner(dir string) owner {
	b, err := slurp(dir+"/cgroup", 16*maxLine)
	if err != nil {
		return owner{}
	}
	return parseCgroup(b)
}
