package podns

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"golang.org/x/sys/unix"

	"plumbline.dev/plumbline/internal/hostfile"
)

// lived finds the namespaces of processes.
func (c *census) lived(ctx context.Context, proc string) error {
	pids, more, err := hostfile.Numbers(proc, maxProcesses)
	if err != nil {
		return fmt.Errorf("list the processes: %w", err)
	}
	if more {
		c.partly(fmt.Errorf("%w: %s has more than %d", errMany, proc, maxProcesses))
	}
	for _, pid := range pids {
		if err := ctx.Err(); err != nil {
			return err
		}
		c.process(proc, strconv.Itoa(pid))
	}
	return nil
}

// process records the namespace of a process. One that has ended has none.
func (c *census) process(proc, pid string) {
	err := c.task(proc, pid, map[uint64]bool{})
	if err == nil {
		return
	}
	if !gone(err) {
		c.partly(err)
		return
	}
	// The leader may be a zombie while other threads run.
	dir := proc + "/" + pid + "/task"
	tids, more, err := hostfile.Numbers(dir, maxThreads)
	if err != nil && !gone(err) {
		c.partly(err)
	}
	if more {
		c.partly(fmt.Errorf("%w: %s has more than %d", errMany, dir, maxThreads))
	}
	counted := map[uint64]bool{}
	for _, tid := range tids {
		if err := c.task(proc, pid+"/task/"+strconv.Itoa(tid), counted); err != nil && !gone(err) {
			c.partly(err)
		}
	}
}

// task records the namespace of a thread; a process counts once in each.
func (c *census) task(proc, task string, counted map[uint64]bool) error {
	link := "/" + task + "/ns/net"
	var st unix.Stat_t
	if err := unix.Stat(proc+link, &st); err != nil {
		return hostfile.OfTask(proc+"/"+task, &fs.PathError{Op: "read", Path: proc + link, Err: err})
	}
	if n := c.meet(st.Ino, "/proc"+link, door{path: proc + link}); n != nil && !counted[st.Ino] {
		n.PIDs++
	}
	counted[st.Ino] = true
	return nil
}

func gone(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH) }

// errMany means that a directory has more entries than the limit.
var errMany = errors.New("too many entries")
