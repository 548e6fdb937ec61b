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

	"plumbline.dev/plumbline/internal/hostfile"
)

// Bounds of probes.
const (
	probeWithin = 2 * time.Second
	maxChildren = 64 // including those that cannot be killed
)

// A child is a probe that has not ended, as far as is known.
type child struct {
	pid    int
	asking time.Duration // since when it was seen to ask; 0 if not yet
	killed bool
}

// waits reports whether a child has been asking for longer than it should, and not for lack
// of CPU: one that has its answer would run.
func (c *child) waits(at time.Duration) bool {
	dir := "/proc/" + strconv.Itoa(c.pid)
	buf := make([]byte, maxLine)
	t, err := hostfile.ReadStat(dir, buf)
	if err != nil {
		return false
	}
	if c.asking == 0 && t.Name == probeAsking {
		c.asking = at
	}
	if c.asking == 0 || at-c.asking < probeWithin {
		return false
	}
	runs := func(t hostfile.Task) bool { return t.State == 'R' }
	return !runs(t) && !slices.ContainsFunc(threads(dir, c.pid, buf), runs)
}

// children are the running probes, by device: at most one per device. Nothing waits for
// them: the next read finds which have ended.
type children map[string]*child

// start starts a child that asks the device at path. It inherits nothing, and is killed
// with us.
func (c children) start(device, path string, major, minor int) error {
	if len(c) >= maxChildren {
		return fmt.Errorf("%w: %d others already do not answer", errUnasked, len(c))
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

// reap collects the children that have ended and reports their exit code; -1 if killed.
func (c children) reap(ended func(device string, code int)) {
	for device, x := range c {
		var ws unix.WaitStatus
		pid, err := unix.Wait4(x.pid, &ws, unix.WNOHANG, nil)
		switch {
		case errors.Is(err, unix.EINTR), err == nil && pid == 0:
		case err != nil: // another waiter has reaped it
			delete(c, device)
			ended(device, -1)
		default:
			delete(c, device)
			ended(device, ws.ExitStatus())
		}
	}
}

// kill kills all children. One inside a request that a server has accepted cannot end until
// that server is gone.
func (c children) kill() {
	for _, x := range c {
		if !x.killed {
			x.killed = unix.Kill(-x.pid, unix.SIGKILL) == nil
		}
	}
}

// end kills all children and waits for those that can end.
func (c children) end(ctx context.Context) {
	c.kill()
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		c.reap(func(string, int) {})
		if len(c) == 0 || !pauseFor(ctx, pause) {
			return
		}
	}
}
