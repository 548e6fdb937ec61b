package plugin

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"plumbline.dev/plumbline/internal/hostfile"
)

func readStat(proc string, pid int) (hostfile.Task, error) {
	return hostfile.ReadStat(proc+"/"+strconv.Itoa(pid), make([]byte, hostfile.MaxStat))
}

// startOf returns the start time of a process.
func startOf(proc string, pid int) (uint64, error) {
	p, err := readStat(proc, pid)
	return p.Start, err
}

// alive reports whether this very process is running. PIDs are reused, so the start time is
// compared too.
func alive(proc string, pid int, start uint64) bool {
	if pid <= 0 || start == 0 {
		return false
	}
	p, err := readStat(proc, pid)
	return err == nil && p.Start == start && p.State != 'Z' && p.State != 'X'
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
		if err != nil || p.Parent != pid || p.Group != child {
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
