package host

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Bounds on probes.
const (
	probeWithin = 2 * time.Second
	maxChildren = 64 // also those that can't be ended
)

// A child is a probe that has not ended, as far as we know.
type child struct {
	pid    int
	asking time.Duration // since when it was seen to ask; 0 if not yet
	killed bool
}

// waits tells that a child asks for longer than it should, and not because it gets no
// CPU: one that has its answer would run.
func (c *child) waits(at time.Duration) bool {
	dir := "/proc/" + strconv.Itoa(c.pid)
	buf := make([]byte, maxLine)
	t, ok := readStat(dir, buf)
	if !ok {
		return false
	}
	if c.asking == 0 && t.name == probeAsking {
		c.asking = at
	}
	if c.asking == 0 || at-c.asking < probeWithin {
		return false
	}
	runs := func(t task) bool { return t.state == 'R' }
	return !runs(t) && !slices.ContainsFunc(threads(dir, c.pid, buf), runs)
}

// children are the probes under way, by device: never two for one. Nobody sleeps for
// them: whoever looks next sees who has ended.
type children map[string]*child

// start sends a child to ask the device at path. It takes nothing along, and ends with us.
func (c children) start(device, path string, major, minor int) error {
	if len(c) >= maxChildren {
		return fmt.Errorf("%w: %d others do not answer already", errUnasked, len(c))
	}
	pid, err := syscall.ForkExec("/proc/self/exe",
		[]string{probeName, path, strconv.Itoa(major), strconv.Itoa(minor)},
		&syscall.ProcAttr{Dir: "/", Env: []string{"GOMAXPROCS=1"}, Sys: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}})
	if err != nil {
		return fmt.Errorf("ask %s: start a child: %w", path, err)
	}
	c[device] = &child{pid: pid}
	return nil
}

// reap takes note of those that have ended, and gives how; -1 if not by themselves.
func (c children) reap(ended func(device string, code int)) {
	for device, x := range c {
		var ws unix.WaitStatus
		pid, err := unix.Wait4(x.pid, &ws, unix.WNOHANG, nil)
		switch {
		case errors.Is(err, unix.EINTR), err == nil && pid == 0:
		case err != nil: // somebody else has reaped it
			delete(c, device)
			ended(device, -1)
		default:
			delete(c, device)
			ended(device, ws.ExitStatus())
		}
	}
}

// kill tells all children to end. One inside a request that a server has taken can't,
// until that server is gone.
func (c children) kill() {
	for _, x := range c {
		if !x.killed {
			x.killed = unix.Kill(-x.pid, unix.SIGKILL) == nil
		}
	}
}

// end tells all children to end, and waits for those that can.
func (c children) end(ctx context.Context) {
	c.kill()
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		c.reap(func(string, int) {})
		if len(c) == 0 || !pauseFor(ctx, pause) {
			return
		}
	}
}
