package supervise

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"
)

const (
	// requestTimeout bounds how long a client may take to send its request.
	requestTimeout = 10 * time.Second
	// restartDelay keeps a part that cannot start from using a whole core.
	restartDelay = 500 * time.Millisecond
)

type server struct {
	mu    sync.Mutex // held from fork until the part is registered, so that the reaper finds every child
	parts []*running
}

type running struct {
	part   Part
	status Status
}

// Serve runs the supervisor on the unix socket at path and returns only if it cannot
// listen. The caller must be the first process of its PID namespace.
func Serve(path string) error {
	l, err := net.Listen("unix", path)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", path, err)
	}
	s := &server{}
	go s.reap()
	for {
		c, err := l.Accept()
		if err != nil {
			return fmt.Errorf("accept on %s: %w", path, err)
		}
		go s.answer(c)
	}
}

func (s *server) answer(c net.Conn) {
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(requestTimeout))
	var q request
	if err := json.NewDecoder(c).Decode(&q); err != nil {
		return // a client that disconnects early needs no answer
	}
	st, err := s.do(q)
	r := response{Status: st}
	if err != nil {
		r.Error = err.Error()
	}
	_ = json.NewEncoder(c).Encode(r)
}

func (s *server) do(q request) ([]Status, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch q.Op {
	case opStart:
		if q.Part == nil || len(q.Part.Argv) == 0 {
			return nil, errors.New("start: no command given")
		}
		return s.add(*q.Part)
	case opAgain:
		r := s.find(q.Name)
		if r == nil {
			return nil, fmt.Errorf("start %s: it was never started before", q.Name)
		}
		return s.add(r.part)
	case opSignal:
		r := s.find(q.Name)
		if r == nil || !r.status.Running {
			return nil, fmt.Errorf("signal %s: not running", q.Name)
		}
		if q.Signal == syscall.SIGTERM || q.Signal == syscall.SIGKILL {
			r.status.Down = true
		}
		if err := syscall.Kill(r.status.PID, q.Signal); err != nil {
			return nil, fmt.Errorf("signal %s: %w", q.Name, err)
		}
		if q.Signal == syscall.SIGSTOP {
			if err := stopped(r.status.PID); err != nil {
				return nil, fmt.Errorf("signal %s: %w", q.Name, err)
			}
		}
		return []Status{r.status}, nil
	case opStatus:
		out := make([]Status, 0, len(s.parts))
		for _, r := range s.parts {
			out = append(out, r.status)
		}
		return out, nil
	}
	return nil, fmt.Errorf("unknown operation %q", q.Op)
}

func (s *server) find(name string) *running {
	for _, r := range s.parts {
		if r.part.Name == name {
			return r
		}
	}
	return nil
}

func (s *server) add(p Part) ([]Status, error) {
	r := s.find(p.Name)
	// A stopped part may be unable to exit, with a thread in the kernel; as with systemd,
	// the next one is started anyway.
	if r != nil && r.status.Running && !r.status.Down {
		return nil, fmt.Errorf("start %s: already running as %d", p.Name, r.status.PID)
	}
	if r == nil {
		r = &running{status: Status{Name: p.Name}}
		s.parts = append(s.parts, r)
	}
	r.part, r.status.Log, r.status.Down = p, p.Log, false
	if err := r.fork(); err != nil {
		return nil, err
	}
	return []Status{r.status}, nil
}

func (r *running) fork() error {
	log, err := os.OpenFile(r.part.Log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return fmt.Errorf("start %s: %w", r.part.Name, err)
	}
	defer func() { _ = log.Close() }()
	null, err := os.Open(os.DevNull)
	if err != nil {
		return fmt.Errorf("start %s: %w", r.part.Name, err)
	}
	defer func() { _ = null.Close() }()
	attr := &syscall.ProcAttr{
		Env:   r.part.Env,
		Files: []uintptr{null.Fd(), log.Fd(), log.Fd()},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	}
	exe := r.part.Argv[0]
	if r.part.Namespaces {
		attr.Sys.Cloneflags = nodeNamespaces
	}
	if r.part.Self {
		exe = "/proc/self/exe"
	}
	pid, err := syscall.ForkExec(exe, r.part.Argv, attr)
	if err != nil {
		return fmt.Errorf("start %s: exec %s: %w", r.part.Name, exe, err)
	}
	r.status.PID, r.status.Running, r.status.Exit = pid, true, ""
	r.status.Starts++
	return nil
}

// reap waits for every child that exits: our parts, and the orphans that the kernel
// gives to the first process of a PID namespace (container shims among them).
func (s *server) reap() {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGCHLD)
	for range ended {
		for {
			var ws syscall.WaitStatus
			s.mu.Lock()
			pid, err := syscall.Wait4(-1, &ws, syscall.WNOHANG, nil)
			if err == nil && pid > 0 {
				s.ended(pid, ws)
			}
			s.mu.Unlock()
			if pid <= 0 && !errors.Is(err, syscall.EINTR) {
				break
			}
		}
	}
}

func (s *server) ended(pid int, ws syscall.WaitStatus) {
	for _, r := range s.parts {
		if r.status.PID != pid || !r.status.Running {
			continue
		}
		r.status.Running = false
		r.status.Exit = describe(ws)
		on := r.part.RestartOn
		if ws.Exited() && (slices.Contains(on, ws.ExitStatus()) || slices.Contains(on, AnyExit)) {
			time.AfterFunc(restartDelay, func() { s.again(r) })
		}
		return
	}
}

func (s *server) again(r *running) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.status.Down || r.status.Running {
		return
	}
	if err := r.fork(); err != nil {
		r.status.Exit = err.Error()
	}
}

func describe(ws syscall.WaitStatus) string {
	if ws.Signaled() {
		return "killed by " + ws.Signal().String()
	}
	return fmt.Sprintf("exit code %d", ws.ExitStatus())
}
