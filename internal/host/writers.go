package host

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/hostfile"
	"plumbline.dev/plumbline/internal/model"
)

// Writers names the processes behind the netlink ports of the host's network namespace. A port is
// mostly a PID, but of a process in a container its PID there, and a PID is used again. So a process is
// named only if it holds the socket with that port now, or if it is the CNI call of the very pod whose
// interface was written to: plugins open a socket for each request. It is used by one goroutine.
type Writers struct {
	h       *Host
	known   map[uint32]writer // by port
	looked  time.Duration     // when all processes were last looked through
	pending chan string       // a read of a process that has not returned; nil if there is none
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
func NewWriters(h *Host) *Writers {
	return &Writers{h: h, known: map[uint32]writer{}, looked: -lookEvery}
}

// Name names the process that has the port and wrote to an interface, such as "Felix (pid 812)"; empty
// if it is unknown.
func (w *Writers) Name(ctx context.Context, port uint32, link int) string {
	if k, ok := w.known[port]; ok {
		if k.open() {
			return k.text
		}
		delete(w.known, port)
	}
	inode := w.inode(port)
	if inode == "" {
		return w.told(ctx, func() string { return w.h.describeCall(w.h.pidDir(int(port)), link) })
	}
	k, ok := w.holder(port, "socket:["+inode+"]")
	if !ok {
		return ""
	}
	k.text = w.told(ctx, func() string { return w.h.describe(filepath.Dir(filepath.Dir(k.link))) })
	// What was read since is of the same process only if it still has the socket.
	if k.text == "" || !k.open() {
		return ""
	}
	if len(w.known) >= maxKnown {
		clear(w.known)
	}
	w.known[port] = k
	return k.text
}

// open reports whether the process still has the socket.
func (k *writer) open() bool {
	to, err := os.Readlink(k.link)
	return err == nil && to == k.to
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
func (w *Writers) told(ctx context.Context, read func() string) string {
	select {
	case <-w.pending:
		w.pending = nil
	default:
	}
	if w.pending != nil {
		return ""
	}
	done := make(chan string, 1)
	go func() { done <- read() }()
	late := time.NewTimer(writerWithin)
	defer late.Stop()
	select {
	case text := <-done:
		return text
	case <-late.C:
	case <-ctx.Done():
	}
	w.pending = done
	return ""
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
	if felixNames[t.Name] {
		if b, err := hostfile.Read(dir+"/cmdline", maxEnviron); err == nil && (t.Name == "calico-felix" || felixArgs(b)) {
			return fmt.Sprintf("Felix (pid %d)", t.ID)
		}
	}
	if text, _ := h.callOf(dir, &t, program); text != "" {
		return text
	}
	return fmt.Sprintf("%s (pid %d)", program[:min(len(program), maxValue)], t.ID)
}

// describeCall names a CNI call if its pod is the one with the interface.
func (h *Host) describeCall(dir string, link int) string {
	t, err := hostfile.ReadStat(dir, make([]byte, hostfile.MaxStat))
	if err != nil || t.State == 'D' {
		return ""
	}
	program, err := os.Readlink(dir + "/exe")
	if err != nil {
		return ""
	}
	text, pod := h.callOf(dir, &t, program)
	ns, name, _ := strings.Cut(pod, "/")
	if device, err := net.InterfaceByIndex(link); text == "" || err != nil || pod == "" || !strings.HasSuffix(device.Name, model.DeviceName("", ns, name)) {
		return ""
	}
	// It was the same process all the while only if it still is.
	if again, err := hostfile.ReadStat(dir, make([]byte, hostfile.MaxStat)); err != nil || again.Start != t.Start || again.Env != t.Env {
		return ""
	}
	return text
}

// callOf describes the CNI call that a process is; empty if it is none. A process of a pod is not one,
// whatever its environment.
func (h *Host) callOf(dir string, t *hostfile.Task, program string) (text, pod string) {
	if same, err := h.shares(dir, "pid"); err != nil || !same {
		return "", ""
	}
	env, err := hostfile.Read(dir+"/environ", maxEnviron)
	if err != nil {
		return "", ""
	}
	command, container, pod := parseCall(env)
	if command == "" || container == "" {
		return "", ""
	}
	return fmt.Sprintf("CNI plugin %s, %s of sandbox %.12s (pid %d)", filepath.Base(program), command, container, t.ID), pod
}
