package podns

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// lived finds the namespaces of processes.
func (c *census) lived(ctx context.Context, proc string) error {
	pids, err := numbers(proc, maxProcesses)
	if errors.Is(err, errMany) {
		c.partly(err)
	} else if err != nil {
		return fmt.Errorf("list the processes: %w", err)
	}
	for _, pid := range pids {
		if err := ctx.Err(); err != nil {
			return err
		}
		c.process(proc, pid)
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
	tids, err := numbers(proc+"/"+pid+"/task", maxThreads)
	if err != nil && !gone(err) {
		c.partly(err)
	}
	counted := map[uint64]bool{}
	for _, tid := range tids {
		if err := c.task(proc, pid+"/task/"+tid, counted); err != nil && !gone(err) {
			c.partly(err)
		}
	}
}

// task records the namespace of a thread; a process counts once in each.
func (c *census) task(proc, task string, counted map[uint64]bool) error {
	link := "/" + task + "/ns/net"
	var st unix.Stat_t
	if err := unix.Stat(proc+link, &st); err != nil {
		return &fs.PathError{Op: "read", Path: proc + link, Err: err}
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

// numbers lists the entries of a directory that are numbers, at most limit of them.
func numbers(dir string, limit int) ([]string, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	var out []string
	for {
		names, err := d.Readdirnames(1024)
		for _, name := range names {
			if _, err := strconv.ParseUint(name, 10, 32); err != nil {
				continue
			}
			if len(out) == limit {
				return out, fmt.Errorf("%w: %s has more than %d", errMany, dir, limit)
			}
			out = append(out, name)
		}
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
	}
}
