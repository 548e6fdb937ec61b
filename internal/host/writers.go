package host

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"plumbline.dev/plumbline/internal/hostfile"
)

// Writers names the processes behind the netlink ports of the host's network namespace. A process
// is named only if it holds the socket with that port now: a port is mostly a PID, but of a process
// in a container its PID there, and a PID is used again. It is used by one goroutine.
type Writers struct {
	h       *Host
	known   map[uint32]writer // by port
	looked  time.Duration     // when all processes were last looked through
	pending chan writer       // a read of a process that has not returned; nil if there is none
}

// A writer is a process with a netlink socket.
type writer struct {
	text string // as people are told
	link string // of procfs, to the socket
	to   string // what that link says as long as the socket is open
}

const (
	maxSockets   = 4 << 20 // bytes of /proc/net/netlink
	maxKnown     = 256
	lookEvery    = time.Second
	writerWithin = 200 * time.Millisecond
)

// NewWriters returns Writers that know no process yet.
func NewWriters(h *Host) *Writers { return &Writers{h: h, known: map[uint32]writer{}, looked: -lookEvery} }

// Name names the process that has the port, such as "Felix (pid 812)"; empty if it is unknown.
func (w *Writers) Name(ctx context.Context, port uint32) string {
	if k, ok := w.known[port]; ok {
		if to, err := os.Readlink(k.link); err == nil && to == k.to {
			return k.text
		}
		delete(w.known, port)
	}
	inode := w.inode(port)
	if inode == "" {
		return ""
	}
	k, ok := w.holder(port, "socket:["+inode+"]")
	if !ok {
		return ""
	}
	k = w.told(ctx, k)
	// What was read since is of the same process only if it still has the socket.
	if to, err := os.Readlink(k.link); err != nil || to != k.to || k.text == "" {
		return ""
	}
	if len(w.known) >= maxKnown {
		clear(w.known)
	}
	w.known[port] = k
	return k.text
}

// inode is that of the socket with the port, as text; empty if there is none.
func (w *Writers) inode(port uint32) string {
	b, err := hostfile.Read(w.h.o.Proc+"/1/net/netlink", maxSockets)
	if err != nil {
		return ""
	}
	return socketInode(b, port)
}

// socketInode finds the socket of NETLINK_ROUTE with a port: sk Eth Pid Groups Rmem Wmem Dump Locks
// Drops Inode.
func socketInode(b []byte, port uint32) string {
	want := strconv.FormatUint(uint64(port), 10)
	for line := range bytes.Lines(b) {
		f := bytes.Fields(line)
		if len(f) >= 10 && string(f[1]) == "0" && string(f[2]) == want {
			return string(f[9])
		}
	}
	return ""
}

// holder finds the only process with the socket: the one whose PID the port is, else by looking
// through all that are in the host's network namespace, which is done at most once a second.
func (w *Writers) holder(port uint32, to string) (writer, bool) {
	if port <= maxProcesses<<6 {
		if link := openAs(w.h.pidDir(int(port)), to); link != "" {
			return writer{link: link, to: to}, true
		}
	}
	if w.h.now()-w.looked < lookEvery {
		return writer{}, false
	}
	w.looked = w.h.now()
	pids, more, err := hostfile.Numbers(w.h.o.Proc, maxProcesses)
	if err != nil || more {
		return writer{}, false
	}
	found := ""
	for _, pid := range pids {
		dir := w.h.pidDir(pid)
		if same, err := w.h.shares(dir, "net"); err != nil || !same {
			continue
		}
		link := openAs(dir, to)
		if link != "" && found != "" {
			return writer{}, false // two have it, and either may have used it
		}
		if link != "" {
			found = link
		}
	}
	return writer{link: found, to: to}, found != ""
}

// openAs is the link of an open file of a process; empty if it has none that leads there.
func openAs(dir, to string) string {
	fds, _, err := hostfile.Numbers(dir+"/fd", maxOpen)
	if err != nil {
		return ""
	}
	for _, fd := range fds {
		link := dir + "/fd/" + strconv.Itoa(fd)
		if is, err := os.Readlink(link); err == nil && is == to {
			return link
		}
	}
	return ""
}

// told reads who a process is. Its memory may hang: then nobody is named until that read returns.
func (w *Writers) told(ctx context.Context, k writer) writer {
	select {
	case <-w.pending:
		w.pending = nil
	default:
	}
	if w.pending != nil {
		return writer{}
	}
	done := make(chan writer, 1)
	go func() {
		k.text = w.h.describe(filepath.Dir(filepath.Dir(k.link)))
		done <- k
	}()
	late := time.NewTimer(writerWithin)
	defer late.Stop()
	select {
	case k := <-done:
		return k
	case <-late.C:
	case <-ctx.Done():
	}
	w.pending = done
	return writer{}
}

// describe says who a process is: Felix, a CNI plugin with its call, or its program.
func (h *Host) describe(dir string) string {
	t, err := hostfile.ReadStat(dir, make([]byte, hostfile.MaxStat))
	if err != nil || t.State == 'D' {
		return ""
	}
	program, err := os.Readlink(dir + "/exe")
	if err != nil {
		return ""
	}
	program = program[:min(len(program), maxValue)]
	if felixNames[t.Name] {
		if b, err := hostfile.Read(dir+"/cmdline", maxEnviron); err == nil && (t.Name == "calico-felix" || felixArgs(b)) {
			return fmt.Sprintf("Felix (pid %d)", t.ID)
		}
	}
	if same, err := h.shares(dir, "pid"); err == nil && same { // a process of a pod is not a CNI call, whatever its environment
		if env, err := hostfile.Read(dir+"/environ", maxEnviron); err == nil {
			if command, container, _ := parseCall(env); command != "" && container != "" {
				return fmt.Sprintf("CNI plugin %s, %s of sandbox %.12s (pid %d)", filepath.Base(program), command, container, t.ID)
			}
		}
	}
	return fmt.Sprintf("%s (pid %d)", program, t.ID)
}
