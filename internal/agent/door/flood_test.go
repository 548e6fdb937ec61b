package door

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/agent"
)

// nobody is an API server that has signed no token.
type nobody struct{}

func (nobody) Genuine(context.Context, string) (bool, error) { return false, nil }
func (nobody) Authenticate(context.Context, string, string) (any, bool, error) {
	return nil, false, nil
}

func (nobody) Authorize(context.Context, any, string, string, string, string, string) (bool, error) {
	return false, nil
}

// TestMain is also a program: the listener of an agent, and nothing else of one.
func TestMain(m *testing.M) {
	if os.Getenv("FLOODED") == "" {
		os.Exit(m.Run())
	}
	now := time.Now //nolint:forbidigo // here it is a program
	cert, err := Certificate("x", "n1", now())
	if err != nil {
		panic(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	d := New(nobody{}, "n1", Right{Group: agent.Group, Resource: agent.Resource, Name: "n1"}, now)
	srv := &http.Server{
		Handler: d.Wrap("get", http.NotFoundHandler()), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second,
		IdleTimeout: 15 * time.Second, MaxHeaderBytes: MaxHeaders, ConnContext: ConnContext, Protocols: Protocols(),
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12},
	}
	_, _ = fmt.Fprintln(os.Stdout, l.Addr())
	time.AfterFunc(2*time.Minute, func() { _ = srv.Close() })
	_ = srv.ServeTLS(Listener(l), "", "")
}

// memory is a line of a process's status, in MiB.
func memory(t *testing.T, pid int, what string) int {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), what+":")
	n, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return n >> 10
}

// Requests that nobody authenticated cost a listener little memory, from however many addresses they
// come: their bodies are not read, and few of their connections are kept.
func TestFlood(t *testing.T) { // not parallel: it measures memory
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "FLOODED=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	buf := make([]byte, 128)
	n, err := out.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	at := strings.TrimSpace(string(buf[:n]))
	rest := memory(t, cmd.Process.Pid, "VmRSS")
	body := make([]byte, maxBody)
	head := "POST /v1/change HTTP/1.1\r\nHost: x\r\n" + agent.Header + ": " + strings.Repeat("a", 15<<10) + "\r\nX: " + strings.Repeat("b", 10<<10) + "\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n"
	var conns []net.Conn
	for i := range 64 * 8 {
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(i%64))}, Timeout: 2 * time.Second}
		raw, err := d.DialContext(t.Context(), "tcp", at)
		if err != nil {
			continue
		}
		c := tls.Client(raw, &tls.Config{InsecureSkipVerify: true})            //nolint:gosec // it is our own
		if err := c.SetDeadline(time.Now().Add(5 * time.Second)); err != nil { //nolint:forbidigo // of a socket
			t.Fatal(err)
		}
		if _, err := io.WriteString(c, head); err == nil {
			_, _ = c.Write(body[:len(body)-1])
		}
		conns = append(conns, c)
	}
	most := memory(t, cmd.Process.Pid, "VmHWM")
	t.Logf("%d connections from 64 addresses: %d MiB at rest, %d at most", len(conns), rest, most)
	if len(conns) < 256 || most > rest+64 {
		t.Errorf("%d connections take %d MiB more than the %d at rest", len(conns), most-rest, rest)
	}
	for _, c := range conns {
		_ = c.Close()
	}
}

// A request that only reads has no body, and one whose token nobody signed is not read.
func TestBodiesAreNotRead(t *testing.T) {
	t.Parallel()
	d := New(nobody{}, "n1", Right{Group: agent.Group, Resource: agent.Resource, Name: "n1"}, time.Now) //nolint:forbidigo // how long answers are kept
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		r, err := http.NewRequestWithContext(t.Context(), method, "https://n1/v1/tables", unread{t})
		if err != nil {
			t.Fatal(err)
		}
		r.ContentLength = 7
		r.Header = agent.NewCaller().Headers("a.e30.c", "n1", method, "v1/tables", nil, nil)
		_, refused := d.admit(nil, r, r.Header.Get(agent.Header), demand{"get", d.right})
		if refused == nil {
			t.Errorf("%s is admitted", method)
		}
	}
}

type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("the body was read")
	return 0, errors.New("read")
}
