package server

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// What ioprio_set takes: this thread, the usual class, its last place.
const (
	ioprioProcess = 1
	ioprioLast    = 2<<13 | 7
	niceLast      = 19
)

// modestly does something on a thread of its own that comes after all others, for processor
// and disk. The thread ends with it.
func modestly(do func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked: nobody else shall be modest
		_ = unix.Setpriority(unix.PRIO_PROCESS, 0, niceLast)
		_, _, _ = unix.RawSyscall(unix.SYS_IOPRIO_SET, ioprioProcess, 0, ioprioLast)
		do()
	}()
	<-done
}
