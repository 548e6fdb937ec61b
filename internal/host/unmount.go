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

// unmountWithin is how long the child that unmounts is waited for. The kernel may keep it
// until what was written has reached a server that does not answer; the mount is gone then.
const unmountWithin = 3 * time.Second

// Unmount takes one mount of the host away lazily: whoever has files open on it keeps
// them. Pods are those that are known to use it. Afterwards nothing is mounted at the path
// or below. Begun as with Abort.
func (h *Host) Unmount(ctx context.Context, want Filesystem, target string, pods []string, dry bool) (begun bool, err error) {
	i := slices.IndexFunc(want.Points, func(p Point) bool { return p.Target == target })
	if i < 0 {
		return false, fmt.Errorf("%s is not mounted at %s: %w", want.Source, target, ErrGone)
	}
	if err := spared(&want, target, pods); err != nil {
		return false, err
	}
	if err := h.again(ctx, &want); err != nil {
		return false, err
	}
	all, err := h.points()
	if err != nil {
		return false, err
	}
	p := want.Points[i]
	if err := standsOn(all, &p); err != nil || dry {
		return false, err
	}
	switch code, err := h.unmounter(ctx, &p, !isFUSE(want.Type)); {
	case err != nil:
		return true, err
	case code == unmountRefused:
		return false, fmt.Errorf("what is mounted at %s is not what it was", target)
	case code != unmountDone:
		return false, fmt.Errorf("unmount %s: %w", target, unix.Errno(code))
	}
	return true, h.nothingAt(target)
}

// spared refuses what pods use that are not known: a path of a pod's is that pod's; a
// volume as the kubelet stages it, or a mount of another's, is of all who use it.
func spared(f *Filesystem, target string, pods []string) error {
	if target == "/" {
		return errors.New("the root is not unmounted")
	}
	pod := podOf(target)
	if pod == "" {
		return f.knows(pods)
	}
	if !slices.Contains(pods, pod) {
		return fmt.Errorf("%s is of pod %s", target, pod)
	}
	return nil
}

// nothingAt proves that nothing is mounted at a path or below: else the kubelet, when it
// tidies up there, removes what is not its own.
func (h *Host) nothingAt(target string) error {
	all, err := h.points()
	if err != nil {
		return err
	}
	for _, p := range all {
		if within(p.Target, target) {
			return fmt.Errorf("mount %d is still at %s", p.ID, p.Target)
		}
	}
	return nil
}

// unmounter has a child do it in the host's mount namespace. It gives how the child ended;
// of one that did not end, the mount table must tell.
func (h *Host) unmounter(ctx context.Context, p *Point, byPath bool) (int, error) {
	how := "held"
	if byPath {
		how = "path"
	}
	pid, err := syscall.ForkExec("/proc/self/exe",
		[]string{unmountName, h.o.Proc + "/1/ns/mnt", p.Target, strconv.Itoa(p.ID), how},
		&syscall.ProcAttr{Dir: "/", Env: []string{"GOMAXPROCS=1"}, Sys: &syscall.SysProcAttr{Setpgid: true}})
	if err != nil {
		return 0, fmt.Errorf("unmount %s: start a child: %w", p.Target, err)
	}
	until := h.now() + unmountWithin
	for pause := time.Millisecond; h.now() < until; pause = min(2*pause, 20*time.Millisecond) {
		var ws unix.WaitStatus
		switch got, err := unix.Wait4(pid, &ws, unix.WNOHANG, nil); {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return 0, fmt.Errorf("unmount %s: wait for the child: %w", p.Target, err)
		case got == pid && ws.Exited():
			return ws.ExitStatus(), nil
		case got == pid:
			return 0, fmt.Errorf("unmount %s: the child was killed", p.Target)
		}
		if !pauseFor(ctx, pause) {
			break
		}
	}
	_ = unix.Kill(pid, unix.SIGKILL)
	go reap(pid) // it ends when the kernel lets it
	return unmountDone, nil
}

func reap(pid int) {
	var ws unix.WaitStatus
	for {
		if _, err := unix.Wait4(pid, &ws, 0, nil); !errors.Is(err, unix.EINTR) {
			return
		}
	}
}
