package main

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"plumbline.dev/plumbline/lab/guest/frame"
)

// execute runs the command of the request's header with its body as standard input. The
// response has the output while it is written, and the exit code at its end.
func execute(w http.ResponseWriter, r *http.Request) {
	var c frame.Command
	if err := json.Unmarshal([]byte(r.Header.Get(frame.Header)), &c); err != nil || len(c.Argv) == 0 {
		http.Error(w, "no command given", http.StatusBadRequest)
		return
	}
	w.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(w).Flush()
	out := &writer{w: w}
	cmd := exec.CommandContext(r.Context(), c.Argv[0], c.Argv[1:]...)
	cmd.Env = c.Env
	cmd.Stdout, cmd.Stderr = stream{out, frame.Stdout}, stream{out, frame.Stderr}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	// The lab went away: nothing of the command may stay.
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	stdin, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		_, _ = stream{out, frame.Stderr}.Write([]byte(err.Error() + "\n"))
		out.frame(frame.Exit, []byte{127})
		return
	}
	go func() {
		_, _ = io.Copy(stdin, r.Body)
		_ = stdin.Close()
	}()
	err = cmd.Wait()
	code := cmd.ProcessState.ExitCode()
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		code = 128 + int(ws.Signal())
	} else if err != nil && code == 0 && !errors.Is(err, exec.ErrWaitDelay) {
		code = 126
	}
	out.frame(frame.Exit, []byte{byte(code)})
}

// A writer sends one frame at a time.
type writer struct {
	mu sync.Mutex
	w  http.ResponseWriter
}

func (o *writer) frame(kind byte, p []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	_ = frame.Write(o.w, kind, p)
	_ = http.NewResponseController(o.w).Flush()
}

type stream struct {
	to   *writer
	kind byte
}

func (s stream) Write(p []byte) (int, error) {
	s.to.frame(s.kind, p)
	return len(p), nil
}
