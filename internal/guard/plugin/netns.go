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

// errNoNamespace means that the network namespace does not exist any more.
var errNoNamespace = errors.New("the network namespace is gone")

// openNamespace opens a network namespace by path. A plain file, which is left when the
// mount of the namespace is gone, is errNoNamespace.
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
		return nil, 0, fmt.Errorf("read the type of the network namespace %s: %w", path, err)
	}
	return f, st.Ino, nil
}

// inodeOf returns the inode of the namespace at a path; 0 for an empty path.
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

// namespaceOf opens the namespace of the owner's ADD; errNoNamespace if the path now leads
// to another.
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

// unplug deletes the owner's interface inside its own namespace, and with it the host veth.
// It never uses the name of the host veth, which may belong to another pod by now.
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
		return errors.New("it is the host's network namespace")
	}
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		home, err := os.Open("/proc/thread-self/ns/net")
		if err == nil {
			defer home.Close()
			err = unplugHere(ctx, ns, o.IfName)
			if unix.Setns(int(home.Fd()), unix.CLONE_NEWNET) == nil {
				runtime.UnlockOSThread() // a thread that could not return to its namespace ends with the goroutine
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
		return fmt.Errorf("list the interfaces of %s: %w", ns.Name(), err)
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
