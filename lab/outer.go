package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

/*
A lab is one process: the first of a PID namespace that has network and mount
namespaces of its own. Everything else of the lab runs below it.

	machine
	 └─ plumbline-lab-init outer NAME     outer namespaces: no way out, private /run
	     ├─ etcd, kube-apiserver, …
	     ├─ plumbline-lab-init node node1   the node's own namespaces
	     │   ├─ containerd, kubelet, calico-felix, kube-proxy
	     │   └─ shims and pods
	     └─ tests and commands that talk to the lab

There is no state file on the machine that could go stale: a lab is found by
looking for its process, and killing that process ends all of it at once. Only
cgroups are machine-wide; their names carry the lab's name.
*/

// initArg0 is argv[0] of the first process of a lab or node.
const initArg0 = "plumbline-lab-init"

// ErrNoLab means that no lab of that name is running.
var ErrNoLab = errors.New("no such lab")

// Running lists the labs on this machine with their first process, by name.
func Running() (map[string]int, error) {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil, fmt.Errorf("list labs: %w", err)
	}
	labs := map[string]int{}
	for _, d := range dirs {
		b, err := os.ReadFile(filepath.Join(d, "cmdline"))
		if err != nil {
			continue // it has exited meanwhile
		}
		argv := strings.Split(strings.TrimSuffix(string(b), "\x00"), "\x00")
		if len(argv) != 3 || argv[0] != initArg0 || argv[1] != "outer" {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(d))
		if err == nil {
			labs[argv[2]] = pid
		}
	}
	return labs, nil
}

// Find returns the first process of the lab.
func Find(name string) (int, error) {
	labs, err := Running()
	if err != nil {
		return 0, err
	}
	pid, ok := labs[name]
	if !ok {
		return 0, fmt.Errorf("%w: %s", ErrNoLab, name)
	}
	return pid, nil
}

// createOuter creates the empty namespaces of a lab and returns their first process. The
// lab remains when the caller exits, unless it is tied to the calling thread; then it
// ends with that thread.
func createOuter(ctx context.Context, name string, tied bool) (*exec.Cmd, error) {
	running, err := Running()
	if err != nil {
		return nil, err
	}
	if pid, ok := running[name]; ok {
		return nil, fmt.Errorf("lab %s is already running (process %d)", name, pid)
	}
	sweepCgroups(running, 2*time.Minute)
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = []string{initArg0, "outer", name}
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Setsid:     true,
		Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID,
	}
	if tied {
		cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	}
	says, stderr, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("create lab %s: %w", name, err)
	}
	defer func() { _ = says.Close() }()
	cmd.Stderr = stderr
	err = cmd.Start()
	_ = stderr.Close()
	if err != nil {
		return nil, fmt.Errorf("create namespaces for lab %s (needs root): %w", name, err)
	}
	sock := fmt.Sprintf("/proc/%d/root%s", cmd.Process.Pid, outerSocket)
	for ctx.Err() == nil {
		if _, err := os.Stat(sock); err == nil {
			return cmd, nil
		}
		if ended(cmd.Process.Pid) {
			_ = cmd.Wait()
			why, _ := io.ReadAll(io.LimitReader(says, 4096))
			return nil, fmt.Errorf("first process of lab %s exited at once: %s", name, why)
		}
		time.Sleep(5 * time.Millisecond)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	return nil, fmt.Errorf("create lab %s: %w", name, ctx.Err())
}

// Down stops a lab and removes all of it. It is not an error if the lab does not exist.
func Down(ctx context.Context, name string) error {
	pid, err := Find(name)
	if errors.Is(err, ErrNoLab) {
		// A lab that is being created may not have its name yet.
		time.Sleep(100 * time.Millisecond)
		pid, err = Find(name)
	}
	if err == nil {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("stop lab %s: %w", name, err)
		}
		if err := awaitEnd(ctx, pid); err != nil {
			return fmt.Errorf("stop lab %s: %w", name, err)
		}
	} else if !errors.Is(err, ErrNoLab) {
		return err
	}
	return removeCgroups(ctx, name)
}

// awaitEnd waits until the kernel has ended every process of the PID namespace: the last
// thread of its first process exits only after all others.
func awaitEnd(ctx context.Context, pid int) error {
	for !ended(pid) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
	return nil
}

// ended returns whether a process is gone, or is a zombie that was not reaped. A zombie
// with further threads has not ended: only its leader has.
func ended(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return true
	}
	i := strings.LastIndexByte(string(b), ')')
	return i > 0 && len(b) > i+2 && b[i+2] == 'Z' && len(threads) == 1
}

// enterArgs is the command line that runs argv inside the namespaces of pid.
func enterArgs(pid int, argv ...string) []string {
	return append([]string{"nsenter", "-t", strconv.Itoa(pid), "-m", "-n", "-p", "--"}, argv...)
}

// Enter replaces this process by argv, run inside the lab.
func Enter(name string, argv ...string) error {
	pid, err := Find(name)
	if err != nil {
		return err
	}
	path, err := exec.LookPath("nsenter")
	if err != nil {
		return fmt.Errorf("enter lab %s: %w", name, err)
	}
	// nsenter starts in the namespace's root directory; --wd would be resolved before
	// entering, so this variable carries the directory to the inner command.
	wd, _ := os.Getwd()
	env := append(slices.Clone(os.Environ()), workDirEnv+"="+wd)
	if err := syscall.Exec(path, enterArgs(pid, argv...), env); err != nil {
		return fmt.Errorf("enter lab %s: %w", name, err)
	}
	return nil
}

// workDirEnv carries the caller's working directory across Enter.
const workDirEnv = "PLUMBLINE_LAB_WORKDIR"
