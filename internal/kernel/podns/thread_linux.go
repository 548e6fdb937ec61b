package podns

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"plumbline.dev/plumbline/internal/kernel/rtnl"
)

// ownNS is the namespace of the thread that opens it.
const ownNS = "/proc/thread-self/ns/net"

// errStranded means that a thread could not return to its own namespace.
var errStranded = errors.New("a thread could not return to the host's network namespace")

// A visitor is a thread that can enter other namespaces.
type visitor struct{ home *os.File }

// visit runs f on a thread of its own. A thread that could not return is never reused: it
// ends with its goroutine, which stays locked to it.
func visit(f func(v *visitor) error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() == unix.Getpid() {
			// The process's first thread cannot end alone. It is blocked here, so that f
			// gets another one.
			err := visit(f)
			runtime.UnlockOSThread()
			done <- err
			return
		}
		err := stay(f)
		if !errors.Is(err, errStranded) {
			runtime.UnlockOSThread()
		}
		done <- err
	}()
	return <-done
}

func stay(f func(v *visitor) error) error {
	home, err := os.Open(ownNS)
	if err != nil {
		return fmt.Errorf("open the host's network namespace: %w", err)
	}
	defer home.Close()
	return f(&visitor{home})
}

// socket opens a socket in another namespace. The thread has returned afterwards, or the
// error is errStranded and the thread must not be used any more.
func (v *visitor) socket(ns *os.File) (*rtnl.Socket, error) {
	if err := unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET); err != nil {
		return nil, fmt.Errorf("enter the network namespace %s: %w", ns.Name(), err)
	}
	s, err := rtnl.Open()
	if back := unix.Setns(int(v.home.Fd()), unix.CLONE_NEWNET); back != nil {
		if s != nil {
			s.Close()
		}
		return nil, fmt.Errorf("%w: %w", errStranded, back)
	}
	return s, err
}

// Host returns the inode of the network namespace of this process.
func Host() (uint64, error) {
	var st unix.Stat_t
	if err := unix.Stat(ownNS, &st); err != nil {
		return 0, fmt.Errorf("read the host's network namespace: %w", err)
	}
	return st.Ino, nil
}
