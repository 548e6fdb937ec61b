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

// Bounds of what a delegate may say.
const (
	maxOut  = 8 << 20
	maxSaid = 256 << 10
)

// reaping is how long a killed program may take to end. One that the kernel holds is left
// to it.
const reaping = 2 * time.Second

// An answer is what a delegate said, or why it said nothing.
type answer struct {
	out     []byte // its standard output
	said    []byte // its standard error, the beginning of it
	code    int    // of its exit
	trouble error  // it was not found, or did not end, or said too much
}

func (a *answer) ok() bool { return a.trouble == nil && a.code == 0 }

// killed tells that somebody else ended it.
func (a *answer) killed() bool { return a.trouble == nil && a.code > signalled }

// signalled is added to the number of the signal that ended a program, as shells do.
const signalled = 128

// errSlow means that the delegate was killed on the deadline.
var errSlow = errors.New("the plugin did not answer in time and was ended")

// A delegate is the plugin that ours stands for.
type delegate struct {
	kind string
	path string // where programs are looked for
	env  []string
}

// run calls the delegate and gives what it said. It comes back soon after the context's
// end, whatever the delegate does.
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

// once gives an error if the program could not be started.
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
	// It is told to die with the thread that starts it: that one must stay.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := exec.CommandContext(ctx, file, args...)
	cmd.Env = with(d.env, "CNI_COMMAND", verb)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(config), out.to, said.to
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = reaping // whoever it left behind may hold its standard input
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
		_ = cmd.Wait() // its state says all
	}()
	select {
	case <-ended:
	case <-stuck(ctx):
		out.end()
		said.end()
		return &answer{said: said.kept, trouble: fmt.Errorf("run %s: %w; the kernel holds it", file, errSlow)}, nil
	}
	out.end()
	said.end()
	return read(ctx, file, cmd, out, said), nil
}

// stuck comes some time after the context's end.
func stuck(ctx context.Context) <-chan struct{} {
	over := make(chan struct{})
	context.AfterFunc(ctx, func() { time.AfterFunc(2*reaping, func() { close(over) }) })
	return over
}

// read makes an answer of a program that ended.
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
		a.trouble = fmt.Errorf("run %s: it answered more than %d bytes", file, maxOut)
	}
	return a
}
