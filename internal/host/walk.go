package host

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"plumbline.dev/plumbline/internal/observe"
)

// Bounds of one walk over all processes.
const (
	maxProcesses = 1 << 17
	maxThreads   = 1 << 15 // of one process
)

// A process with those of its threads that were read.
type process struct {
	task
	others []task // beside the leader; nil if there are none, or none was requested
}

// hung reports whether a thread is in state D: then its memory must not be read, because
// that may hang too.
func (p *process) hung() bool {
	return p.state == 'D' || slices.ContainsFunc(p.others, func(t task) bool { return t.state == 'D' })
}

// alive is a thread that still runs beside a leader that has ended; 0 if there is none.
func (p *process) alive() int {
	for _, t := range p.others {
		if t.state != 'Z' && t.state != 'X' {
			return t.id
		}
	}
	return 0
}

// dir is the procfs directory with the complete state: for a zombie that of a running
// thread.
func (h *Host) dir(p *process) string {
	dir := filepath.Join(h.o.Proc, strconv.Itoa(p.id))
	if p.state == 'Z' {
		if t := p.alive(); t != 0 {
			return filepath.Join(dir, "task", strconv.Itoa(t))
		}
	}
	return dir
}

// Which threads a walk reads: all, or only those beside a zombie, which is cheaper.
const (
	every = true
	few   = false
)

// walk visits every process except kernel threads, by rising PID.
func (h *Host) walk(ctx context.Context, all bool, visit func(*process)) error {
	pids, whole, err := numbers(h.o.Proc, maxProcesses)
	if err != nil {
		return fmt.Errorf("list processes: %w", err)
	}
	if len(pids) == 0 {
		return fmt.Errorf("list processes in %s: %w", h.o.Proc, os.ErrNotExist)
	}
	slices.Sort(pids)
	buf := make([]byte, maxLine)
	for i, pid := range pids {
		if i%64 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		dir := h.o.Proc + "/" + strconv.Itoa(pid)
		t, ok := readStat(dir, buf)
		if !ok || t.kernel {
			continue
		}
		p := process{task: t}
		if all && t.threads > 1 || t.state == 'Z' {
			p.others = threads(dir, pid, buf)
		}
		visit(&p)
	}
	if !whole {
		return fmt.Errorf("%w: more than %d processes", observe.ErrPartial, maxProcesses)
	}
	return nil
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

func threads(dir string, pid int, buf []byte) []task {
	tids, _, err := numbers(dir+"/task", maxThreads)
	if err != nil {
		return nil // it has ended meanwhile
	}
	out := make([]task, 0, len(tids))
	for _, tid := range tids {
		if tid == pid {
			continue
		}
		if t, ok := readStat(dir+"/task/"+strconv.Itoa(tid), buf); ok {
			out = append(out, t)
		}
	}
	return out
}
