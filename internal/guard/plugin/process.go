package plugin

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A process is the content of /proc/PID/stat.
type process struct {
	state  byte
	parent int
	group  int
	start  uint64 // in ticks after boot
}

// parseStat reads a line of stat. The name, in parentheses, may hold any character.
func parseStat(line string) (process, error) {
	var p process
	end := strings.LastIndexByte(line, ')')
	if end < 0 {
		return p, errors.New("stat has no process name")
	}
	f := strings.Fields(line[end+1:])
	if len(f) < 20 || len(f[0]) != 1 {
		return p, errors.New("stat has too few fields")
	}
	var errs [3]error
	p.state = f[0][0]
	p.parent, errs[0] = strconv.Atoi(f[1])
	p.group, errs[1] = strconv.Atoi(f[2])
	p.start, errs[2] = strconv.ParseUint(f[19], 10, 64)
	return p, errors.Join(errs[:]...)
}

func readStat(proc string, pid int) (process, error) {
	f, err := os.Open(proc + "/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return process{}, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, 4096))
	if err != nil {
		return process{}, err
	}
	return parseStat(string(b))
}

// startOf returns the start time of a process.
func startOf(proc string, pid int) (uint64, error) {
	p, err := readStat(proc, pid)
	return p.start, err
}

// alive reports whether this very process is running. PIDs are reused, so the start time is
// compared too.
func alive(proc string, pid int, start uint64) bool {
	if pid <= 0 || start == 0 {
		return false
	}
	p, err := readStat(proc, pid)
	return err == nil && p.start == start && p.state != 'Z' && p.state != 'X'
}

// killDelegate ends the delegate of a guard process: its children that lead a process
// group, with their groups. The guard process itself is in the group of the runtime, which
// must not be killed.
func killDelegate(proc string, pid int, start uint64) error {
	d, err := os.Open(proc)
	if err != nil {
		return err
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return err
	}
	killed := false
	for _, name := range names {
		child, err := strconv.Atoi(name)
		if err != nil || child <= 1 || !alive(proc, pid, start) {
			continue
		}
		p, err := readStat(proc, child)
		if err != nil || p.parent != pid || p.group != child {
			continue
		}
		if err := syscall.Kill(-child, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("kill process group %d: %w", child, err)
		}
		killed = true
	}
	if !killed {
		return errors.New("it has no child process to end")
	}
	return nil
}

// sinceBoot returns the time since boot, which no clock setting changes.
func sinceBoot() (time.Duration, error) {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
		return 0, fmt.Errorf("read the time since the boot: %w", err)
	}
	return time.Duration(t.Nano()), nil
}
