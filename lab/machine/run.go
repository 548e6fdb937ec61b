package machine

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// Run runs the machine of the spec and serves requests to it until QEMU exits. QEMU ends
// with the calling process.
func Run(dir, name string) error {
	s, err := read(dir, name)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	port := &link{path: s.path(".port")}
	q, err := s.start(ctx, cancel, port)
	if err != nil {
		return err
	}
	sock := Socket(dir, name)
	_ = os.Remove(sock)
	l, err := (&net.ListenConfig{}).Listen(ctx, "unix", sock)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: handler(q, port), Protocols: new(http.Protocols)}
	server.Protocols.SetUnencryptedHTTP2(true)
	go func() {
		<-ctx.Done()
		_ = server.Close()
	}()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return context.Cause(ctx)
}

// start starts QEMU, with KVM if that boots the machine's kernel.
func (s Spec) start(ctx context.Context, exited context.CancelCauseFunc, port *link) (*qmp, error) {
	if f, err := os.OpenFile("/dev/kvm", os.O_RDWR, 0); err == nil {
		_ = f.Close()
		q, stop, err := s.qemuUp(ctx, true, exited, port)
		if err == nil && s.boots(ctx) {
			return q, nil
		}
		stop()
	}
	q, _, err := s.qemuUp(ctx, false, exited, port)
	return q, err
}

// boots returns whether the kernel says anything. Where KVM itself runs in a virtual
// machine, it may run nothing.
func (s Spec) boots(ctx context.Context) bool {
	for end := time.Now().Add(kvmBoots); time.Now().Before(end) && ctx.Err() == nil; time.Sleep(50 * time.Millisecond) {
		if b, err := os.ReadFile(s.path(".console")); err == nil && strings.Contains(string(b), "Linux version") {
			return true
		}
	}
	return false
}

const kvmBoots = 4 * time.Second

// qemuUp starts QEMU. Unless it is stopped first, its end is reported.
func (s Spec) qemuUp(ctx context.Context, kvm bool, exited context.CancelCauseFunc, port *link) (*qmp, func(), error) {
	for _, f := range []string{".qmp", ".port", ".console"} {
		_ = os.Remove(s.path(f))
	}
	argv := s.qemu(kvm)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return nil, func() {}, fmt.Errorf("run QEMU: %w", err)
	}
	ended, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		err := cmd.Wait()
		select {
		case <-stopped:
		default:
			exited(fmt.Errorf("QEMU exited: %w", err))
		}
	}()
	stop := func() {
		close(stopped)
		_ = cmd.Process.Kill()
		<-ended
	}
	q, err := dialQMP(ctx, s.path(".qmp"), func(m message) {
		if m.Event == "VSERPORT_CHANGE" && m.Data.ID == "lab" {
			port.agent(m.Data.Open)
		}
	})
	return q, stop, err
}

// handler passes commands to the agent, and the rest to QEMU.
func handler(q *qmp, port *link) http.Handler {
	mux := http.NewServeMux()
	agent := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: "machine"})
	agent.Transport, agent.FlushInterval = port, -1
	agent.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, err error) {
		http.Error(w, err.Error(), http.StatusBadGateway)
	}
	mux.Handle("POST /exec", agent)
	for path, command := range map[string]string{"/power-cut": "system_reset", "/pause": "stop", "/resume": "cont"} {
		mux.HandleFunc("POST "+path, func(w http.ResponseWriter, _ *http.Request) {
			if err := q.do(command); err != nil {
				http.Error(w, err.Error(), http.StatusBadGateway)
			}
		})
	}
	return mux
}
