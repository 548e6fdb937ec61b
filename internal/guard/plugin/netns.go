package plugin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"plumbline.dev/plumbline/internal/guard"
	"plumbline.dev/plumbline/internal/kernel/podns"
	"plumbline.dev/plumbline/internal/kernel/rtnl"
)

// errNoNamespace means that there is none where one was.
var errNoNamespace = errors.New("the network namespace is gone")

// openNamespace opens a network namespace by its path; a file that only pinned one, and
// does no more, is no namespace.
func openNamespace(path string) (*os.File, uint64, error) {
	if path == "" {
		return nil, 0, errNoNamespace
	}
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) {
		return nil, 0, errNoNamespace
	} else if err != nil {
		return nil, 0, fmt.Errorf("open the network namespace %s: %w", path, err)
	}
	f := os.NewFile(uintptr(fd), path)
	kind, err := unix.IoctlRetInt(fd, unix.NS_GET_NSTYPE)
	if errors.Is(err, unix.ENOTTY) || err == nil && kind != unix.CLONE_NEWNET {
		_ = f.Close()
		return nil, 0, errNoNamespace
	}
	var st unix.Stat_t
	if err == nil {
		err = unix.Fstat(fd, &st)
	}
	if err != nil {
		_ = f.Close()
		return nil, 0, fmt.Errorf("look at the network namespace %s: %w", path, err)
	}
	return f, st.Ino, nil
}

// inodeOf tells which namespace a path is of; 0 if of none.
func inodeOf(path string) (uint64, error) {
	if path == "" {
		return 0, nil
	}
	f, inode, err := openNamespace(path)
	if err != nil {
		return 0, err
	}
	return inode, f.Close()
}

// namespaceOf opens the namespace that an owner was added to, and no other.
func namespaceOf(o *guard.Owner) (*os.File, error) {
	if o.Inode == 0 {
		return nil, errNoNamespace
	}
	f, inode, err := openNamespace(o.NetNS)
	if err != nil {
		return nil, err
	}
	if inode != o.Inode {
		_ = f.Close()
		return nil, errNoNamespace
	}
	return f, nil
}

// unplug deletes the owner's device inside its own namespace, and with it the end on the
// host. That one is never named: its name may be another's by now.
func unplug(ctx context.Context, o *guard.Owner) error {
	ns, err := namespaceOf(o)
	if err != nil {
		return err
	}
	defer ns.Close()
	host, err := podns.Host()
	switch {
	case err != nil:
		return err
	case host == o.Inode:
		return errors.New("it is the host's own network namespace")
	}
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		home, err := os.Open("/proc/thread-self/ns/net")
		if err == nil {
			defer home.Close()
			err = unplugHere(ctx, ns, o.IfName)
			if unix.Setns(int(home.Fd()), unix.CLONE_NEWNET) == nil {
				runtime.UnlockOSThread() // one that did not come home ends with this
			}
		}
		done <- err
	}()
	return <-done
}

func unplugHere(ctx context.Context, ns *os.File, device string) error {
	if err := unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("enter the network namespace %s: %w", ns.Name(), err)
	}
	s, err := rtnl.Open()
	if err != nil {
		return err
	}
	defer s.Close()
	links, err := s.Links(ctx, 1000)
	if err != nil {
		return fmt.Errorf("devices of %s: %w", ns.Name(), err)
	}
	for _, l := range links {
		if l.Name != device || l.Loopback {
			continue
		}
		if err := s.DeleteLink(ctx, l.Index); !errors.Is(err, rtnl.ErrGone) {
			return err
		}
	}
	return nil
}
