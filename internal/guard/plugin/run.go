package plugin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// Bounds of a delegate's output.
const (
	maxOut  = 8 << 20
	maxSaid = 256 << 10
)

// reaping is how long a killed program may take to exit. After that it is left to the
// kernel.
const reaping = 2 * time.Second

// An answer is the output of a delegate, or why there is none.
type answer struct {
	out     []byte // its standard output
	said    []byte // the beginning of its standard error
	code    int    // its exit code
	trouble error  // it was not found, did not exit, or wrote too much
}

func (a *answer) ok() bool { return a.trouble == nil && a.code == 0 }

// killed reports whether a signal that we did not send ended it.
func (a *answer) killed() bool { return a.trouble == nil && a.code > signalled }

// signalled is added to the number of the signal that ended a program, as shells do.
const signalled = 128

// errSlow means that the delegate was killed at the deadline.
var errSlow = errors.New("the plugin did not answer in time and was killed")

// A delegate is the wrapped plugin.
type delegate struct {
	kind string
	path string // CNI_PATH
	env  []string
}

// run calls the delegate and returns its answer. It returns soon after the context ends,
// whatever the delegate does.
func (d *delegate) run(ctx context.Context, verb string, config []byte, args ...string) *answer {
	over := time.NewTimer(replaced)
	defer over.Stop()
	for {
		file, err := find(d.kind, d.path)
		if err == nil {
			var a *answer
			if a, err = d.once(ctx, file, verb, config, args...); err == nil {
				return a
			}
		}
		if !passing(err) {
			return &answer{trouble: err}
		}
		select {
		case <-ctx.Done():
			return &answer{trouble: err}
		case <-over.C:
			return &answer{trouble: err}
		case <-time.After(retry):
		}
	}
}

// once returns an error if the program could not be started.
func (d *delegate) once(ctx context.Context, file, verb string, config []byte, args ...string) (*answer, error) {
	out, err := newPipe(maxOut)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", file, err)
	}
	said, err := newPipe(maxSaid)
	if err != nil {
		out.drop()
		return nil, fmt.Errorf("run %s: %w", file, err)
	}
	// Pdeathsig kills the delegate when the thread that started it ends, so this thread
	// must stay.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := exec.CommandContext(ctx, file, args...)
	cmd.Env = with(d.env, "CNI_COMMAND", verb)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(config), out.to, said.to
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = reaping // a process that it left behind may hold its standard input
	if err := cmd.Start(); err != nil {
		out.drop()
		said.drop()
		return nil, fmt.Errorf("run %s: %w", file, err)
	}
	out.begin()
	said.begin()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // ProcessState has the result
	}()
	select {
	case <-ended:
	case <-stuck(ctx):
		out.end()
		said.end()
		return &answer{said: said.kept, trouble: fmt.Errorf("run %s: %w; it has not exited yet", file, errSlow)}, nil
	}
	out.end()
	said.end()
	return read(ctx, file, cmd, out, said), nil
}

// stuck returns a channel that is closed some time after the context ends.
func stuck(ctx context.Context) <-chan struct{} {
	over := make(chan struct{})
	context.AfterFunc(ctx, func() { time.AfterFunc(2*reaping, func() { close(over) }) })
	return over
}

// read makes an answer from a program that exited.
func read(ctx context.Context, file string, cmd *exec.Cmd, out, said *pipe) *answer {
	a := &answer{out: out.kept, said: said.kept, code: 1}
	status, _ := cmd.ProcessState.Sys().(syscall.WaitStatus)
	switch {
	case status.Exited():
		a.code = status.ExitStatus()
	case status.Signaled():
		a.code = signalled + int(status.Signal())
	}
	switch {
	case status.Signaled() && ctx.Err() != nil:
		a.trouble = fmt.Errorf("run %s: %w", file, errSlow)
	case out.over:
		a.trouble = fmt.Errorf("run %s: its output exceeds %d bytes", file, maxOut)
	}
	return a
}
