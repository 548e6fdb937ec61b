package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// End kills the process that serves a FUSE file system and does not answer. Pods are those
// that are known to use it, or to be what is killed. Begun as with Abort.
func (h *Host) End(ctx context.Context, want Filesystem, pods []string, dry bool) (begun bool, err error) {
	s := want.Server
	switch {
	case !isFUSE(want.Type) || s == nil:
		return false, fmt.Errorf("nobody is known to serve %s", want.Source)
	case s.PID <= 1 || s.PID == os.Getpid() || keepers[s.Name]:
		return false, fmt.Errorf("%s (%d) is not ended, whatever it serves", s.Name, s.PID)
	case s.PodUID != "" && !slices.Contains(pods, s.PodUID):
		return false, fmt.Errorf("%s (%d) is of pod %s", s.Name, s.PID, s.PodUID)
	case s.PodUID == "" && s.Container != "":
		return false, fmt.Errorf("%s (%d) is of a container of nobody's", s.Name, s.PID)
	}
	if err := want.knows(pods); err != nil {
		return false, err
	}
	// Held before it is compared: its number is given again when it has ended.
	fd, err := unix.PidfdOpen(s.PID, 0)
	if err != nil {
		return false, fmt.Errorf("hold %s (%d): %w", s.Name, s.PID, err)
	}
	defer func() { _ = unix.Close(fd) }()
	if err := h.again(ctx, &want); err != nil {
		return false, err
	}
	if err := h.servesOnly(&want); err != nil || dry {
		return false, err
	}
	if err := unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0); err != nil {
		return false, fmt.Errorf("kill %s (%d): %w", s.Name, s.PID, err)
	}
	return true, nil
}

// servesOnly refuses if the process serves another file system too: that would end with it.
// Several descriptors are of one connection only where the kernel says so.
func (h *Host) servesOnly(f *Filesystem) error {
	major, minor, _ := numbersOf(f.Device)
	dir := h.o.Proc + "/" + strconv.Itoa(f.Server.PID)
	fds, whole, err := numbers(dir+"/fd", maxOpen)
	if err != nil || !whole {
		return errors.Join(err, fmt.Errorf("not all files of %s (%d) can be seen", f.Server.Name, f.Server.PID))
	}
	untold, told := 0, 0
	for _, fd := range fds {
		n := strconv.Itoa(fd)
		to, err := os.Readlink(dir + "/fd/" + n)
		switch {
		case gone(err):
			continue
		case err != nil:
			return fmt.Errorf("look at the files of %s (%d): %w", f.Server.Name, f.Server.PID, err)
		case to != fuseDevice:
			continue
		}
		c, ok := connectionOf(dir + "/fdinfo/" + n)
		switch {
		case !ok:
			untold++
		case c != major<<20|minor:
			return fmt.Errorf("%s (%d) serves another file system as well", f.Server.Name, f.Server.PID)
		default:
			told++
		}
	}
	if untold > 1 || untold+told == 0 {
		return fmt.Errorf("what else %s (%d) serves cannot be told", f.Server.Name, f.Server.PID)
	}
	return nil
}
