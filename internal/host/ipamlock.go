package host

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"plumbline.dev/plumbline/internal/hostfile"
	"plumbline.dev/plumbline/internal/observe"
)

// ipamLock is the file that Calico's IPAM plugin locks while it assigns an address: one call of the node at a time. A network
// configuration may name another.
const ipamLock = "/var/run/calico/ipam.lock"

const maxLocks = 4 << 20 // /proc/locks

// An IPAMLock is who waits for it now.
type IPAMLock struct {
	Waiting int           // CNI calls
	Oldest  time.Duration // how long the one of them that began first has been running
}

// IPAMLock looks at the lock without touching it. It is observe.ErrNotThere if the node has no such file.
func (h *Host) IPAMLock() (l IPAMLock, err error) {
	f, err := hostfile.Root(h.o.Root).Open(ipamLock, unix.O_PATH)
	if errors.Is(err, fs.ErrNotExist) {
		return l, observe.ErrNotThere
	}
	if err != nil {
		return l, err
	}
	var st unix.Stat_t
	err = errors.Join(unix.Fstat(int(f.Fd()), &st), f.Close())
	if err != nil {
		return l, fmt.Errorf("%s: %w", ipamLock, err)
	}
	locks, err := hostfile.Read(filepath.Join(h.o.Proc, "locks"), maxLocks)
	if err != nil {
		return l, err
	}
	up, err := hostfile.Read(filepath.Join(h.o.Proc, "uptime"), maxLine)
	if err != nil {
		return l, err
	}
	now, buf := time.Duration(parseUptime(up))*time.Second, make([]byte, hostfile.MaxStat)
	for _, pid := range waiters(locks, fmt.Sprintf("%02x:%02x:%d", unix.Major(st.Dev), unix.Minor(st.Dev), st.Ino)) {
		l.Waiting++
		if task, err := hostfile.ReadStat(h.pidDir(pid), buf); err == nil { // else it has ended meanwhile
			l.Oldest = max(l.Oldest, now-time.Duration(task.Start/ticks)*time.Second)
		}
	}
	return l, nil
}

// waiters are the processes that wait for a lock of a file, which is named as /proc/locks names it:
//
//	1: FLOCK  ADVISORY  WRITE 4711 00:19:1234 0 EOF
//	1: -> FLOCK  ADVISORY  WRITE 4712 00:19:1234 0 EOF
func waiters(locks []byte, file string) (pids []int) {
	for line := range bytes.Lines(locks) {
		f := bytes.Fields(line)
		if len(f) < 7 || string(f[1]) != "->" || string(f[6]) != file {
			continue
		}
		if pid, err := strconv.Atoi(string(f[5])); err == nil && pid > 0 {
			pids = append(pids, pid)
		}
	}
	return pids
}
