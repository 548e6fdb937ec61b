package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"plumbline.dev/plumbline/internal/hostfile"
	"plumbline.dev/plumbline/internal/observe"
)

// Bounds of one walk over all processes.
const (
	maxProcesses = 1 << 17
	maxThreads   = 1 << 15 // of one process
)

// A process with those of its threads that were read.
type process struct {
	hostfile.Task
	others []hostfile.Task // beside the leader; nil if there are none, or none was requested
}

// hung reports whether a thread is in state D: then its memory must not be read, because
// that may hang too.
func (p *process) hung() bool {
	return p.State == 'D' || slices.ContainsFunc(p.others, func(t hostfile.Task) bool { return t.State == 'D' })
}

// alive is a thread that still runs beside a leader that has ended; 0 if there is none.
func (p *process) alive() int {
	for _, t := range p.others {
		if t.State != 'Z' && t.State != 'X' {
			return t.ID
		}
	}
	return 0
}

// dir is the procfs directory with the complete state: for a zombie that of a running
// thread.
func (h *Host) dir(p *process) string {
	dir := h.pidDir(p.ID)
	if p.State == 'Z' {
		if t := p.alive(); t != 0 {
			return filepath.Join(dir, "task", strconv.Itoa(t))
		}
	}
	return dir
}

func (h *Host) pidDir(pid int) string { return filepath.Join(h.o.Proc, strconv.Itoa(pid)) }

// Which threads a walk reads: all, or only those beside a zombie, which is cheaper.
const (
	every = true
	few   = false
)

// walk visits every process except kernel threads, by rising PID.
func (h *Host) walk(ctx context.Context, all bool, visit func(*process)) error {
	pids, more, err := hostfile.Numbers(h.o.Proc, maxProcesses)
	if err != nil {
		return fmt.Errorf("list processes: %w", err)
	}
	if len(pids) == 0 {
		return fmt.Errorf("list processes in %s: %w", h.o.Proc, os.ErrNotExist)
	}
	slices.Sort(pids)
	buf := make([]byte, hostfile.MaxStat)
	unread := 0
	for i, pid := range pids {
		if i%64 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		dir := h.o.Proc + "/" + strconv.Itoa(pid)
		t, err := hostfile.ReadStat(dir, buf)
		if err != nil || t.Kernel { // most have ended meanwhile
			if unreadable(err) {
				unread++
			}
			continue
		}
		p := process{Task: t}
		if all && t.Threads > 1 || t.State == 'Z' {
			p.others = threads(dir, pid, buf)
		}
		visit(&p)
	}
	switch {
	case more:
		return fmt.Errorf("%w: more than %d processes", observe.ErrPartial, maxProcesses)
	case unread > 0:
		return fmt.Errorf("%w: %d processes could not be read", observe.ErrPartial, unread)
	}
	return nil
}

// unreadable reports whether a process exists and could not be read: no descriptor was left, or a
// right is missing.
func unreadable(err error) bool {
	return errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE) || errors.Is(err, unix.ENOMEM) || errors.Is(err, fs.ErrPermission)
}

// hostFirst visits every process with its threads: those of the host's own PID namespace
// first, so that they are read before a process in a container can delay us.
func (h *Host) hostFirst(ctx context.Context, visit func(*process)) error {
	var inner []*process
	err := h.walk(ctx, every, func(p *process) {
		if h.nested(p) {
			inner = append(inner, p)
			return
		}
		visit(p)
	})
	for _, p := range inner {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		visit(p)
	}
	return err
}

func threads(dir string, pid int, buf []byte) []hostfile.Task {
	tids, _, err := hostfile.Numbers(dir+"/task", maxThreads)
	if err != nil {
		return nil // it has ended meanwhile
	}
	out := make([]hostfile.Task, 0, len(tids))
	for _, tid := range tids {
		if tid == pid {
			continue
		}
		if t, err := hostfile.ReadStat(dir+"/task/"+strconv.Itoa(tid), buf); err == nil {
			out = append(out, t)
		}
	}
	return out
}
