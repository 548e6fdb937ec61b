package lab

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A Process is a process of a node, read from /proc.
type Process struct {
	PID       int   // in the node
	RSS, Peak int64 // bytes
	Threads   int
	CPU       time.Duration // CPU time, user and system
	Files     int           // open
	NetNS     int           // of these, how many hold a network namespace
}

// Processes returns the node's processes with one of the names, by the kernel's name or
// argv[0]. One that exits during the read is omitted.
func (n *Node) Processes(names ...string) ([]Process, error) {
	proc := n.Path("/proc")
	entries, err := os.ReadDir(proc)
	if err != nil {
		return nil, fmt.Errorf("list processes of %s: %w", n.Name, err)
	}
	var out []Process
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		p, err := readProcess(filepath.Join(proc, e.Name()), names)
		switch {
		case errors.Is(err, errOther), gone(err):
			continue
		case err != nil:
			return nil, fmt.Errorf("read process %d of %s: %w", pid, n.Name, err)
		}
		p.PID = pid
		out = append(out, p)
	}
	return out, nil
}

// ProcessOf returns what a process of this machine uses, without its open files.
func ProcessOf(pid int) (Process, error) {
	p, err := readUse(filepath.Join("/proc", strconv.Itoa(pid)))
	p.PID = pid
	return p, err
}

// Process returns what the machine's emulator uses.
func (n *Node) Process() (Process, error) {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", n.PID))
	if err != nil {
		return Process{}, err
	}
	var children []byte
	for _, f := range threads {
		b, _ := os.ReadFile(f)
		children = append(children, b...)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(children)))
	if err != nil {
		return Process{}, fmt.Errorf("find the emulator of %s: %w", n.Name, err)
	}
	return ProcessOf(pid)
}

func readUse(dir string) (Process, error) {
	status, err := os.ReadFile(filepath.Join(dir, "status"))
	if err != nil {
		return Process{}, err
	}
	stat, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return Process{}, err
	}
	return parseProcess(string(status), string(stat))
}

var errOther = errors.New("another process")

func readProcess(dir string, names []string) (Process, error) {
	comm, err := os.ReadFile(filepath.Join(dir, "comm"))
	if err != nil {
		return Process{}, err
	}
	args, err := os.ReadFile(filepath.Join(dir, "cmdline"))
	if err != nil {
		return Process{}, err
	}
	started, _, _ := strings.Cut(string(args), "\x00")
	if !slices.Contains(names, strings.TrimSpace(string(comm))) && !slices.Contains(names, started) {
		return Process{}, errOther
	}
	p, err := readUse(dir)
	if err != nil {
		return Process{}, err
	}
	files, err := os.ReadDir(filepath.Join(dir, "fd"))
	if err != nil {
		return Process{}, err
	}
	for _, f := range files {
		to, err := os.Readlink(filepath.Join(dir, "fd", f.Name()))
		if err != nil {
			continue // closed meanwhile
		}
		p.Files++
		if strings.HasPrefix(to, "net:[") {
			p.NetNS++
		}
	}
	return p, nil
}

// tick is the kernel's unit of process times in /proc.
const tick = 10 * time.Millisecond

// parseProcess reads the texts of a process's status and stat. A zombie has no memory.
func parseProcess(status, stat string) (Process, error) {
	var p Process
	for line := range strings.Lines(status) {
		key, rest, _ := strings.Cut(line, ":")
		f := strings.Fields(rest)
		if len(f) == 0 {
			continue
		}
		v, err := strconv.ParseInt(f[0], 10, 64)
		if err != nil {
			continue
		}
		switch key {
		case "VmRSS":
			p.RSS = v << 10
		case "VmHWM":
			p.Peak = v << 10
		case "Threads":
			p.Threads = int(v)
		}
	}
	// The name may contain spaces and brackets; what follows its last bracket does not.
	f := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(f) < 13 {
		return p, fmt.Errorf("read stat: %d fields", len(f))
	}
	for _, ticks := range f[11:13] { // utime, stime
		v, err := strconv.ParseInt(ticks, 10, 64)
		if err != nil {
			return p, fmt.Errorf("read stat: %w", err)
		}
		p.CPU += time.Duration(v) * tick
	}
	return p, nil
}

func gone(err error) bool {
	// /proc returns ESRCH if a process exits between open and read.
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH)
}
