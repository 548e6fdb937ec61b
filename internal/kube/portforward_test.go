package kube

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/moby/spdystream"
	"k8s.io/client-go/rest"
)

// kubelet speaks the protocol of a port-forward in front of a TLS server. It is no API server: what is tested is what we send, and
// what we leave behind.
func kubelet(t *testing.T, agent string) *httptest.Server {
	t.Helper()
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method != http.MethodPost || !strings.HasPrefix(r.URL.Path, "/api/v1/namespaces/ns/pods/") || !strings.HasSuffix(r.URL.Path, "/portforward"):
			w.WriteHeader(http.StatusTeapot)
			return
		case strings.Contains(r.URL.Path, "/pods/forbidden/"):
			http.Error(w, "no", http.StatusForbidden)
			return
		case strings.Contains(r.URL.Path, "/pods/odd/"):
			_, _ = io.WriteString(w, "{}")
			return
		}
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			_, err = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n")
		}
		if err != nil {
			t.Error(err)
			return
		}
		server, err := spdystream.NewConnection(conn, true)
		if err != nil {
			t.Error(err)
			return
		}
		troubles := make(chan *spdystream.Stream, 1)
		server.Serve(func(s *spdystream.Stream) {
			if strings.Contains(r.URL.Path, "/pods/mute/") {
				return
			}
			_ = s.SendReply(http.Header{}, false)
			if s.Headers().Get("streamType") == "error" {
				troubles <- s
				return
			}
			go forward(agent, s, troubles)
		})
	}))
}

func forward(agent string, s *spdystream.Stream, troubles <-chan *spdystream.Stream) {
	e := <-troubles
	to, err := net.Dial("tcp", agent)
	if err != nil {
		_, _ = io.WriteString(e, "connection refused\n")
		_ = e.Close()
		_ = s.Close()
		return
	}
	defer func() { _ = to.Close() }()
	go func() { _, _ = io.Copy(to, s) }()
	_, _ = io.Copy(s, to)
	_ = s.Close()
	_ = e.Close()
}

func forwarding(t *testing.T, at string) *Client {
	t.Helper()
	c := clientOf(t, at)
	c.Forward, c.cfg = true, &rest.Config{Host: at, BearerToken: "secret"}
	var err error
	if c.forward, err = c.forwarding(); err != nil {
		t.Fatal(err)
	}
	if c.http, err = c.through(c.cfg, MayRead); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestPortForward(t *testing.T) { // not parallel: it counts goroutines
	agent := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/long" {
			_, _ = io.CopyN(w, zeros{}, 1<<20)
			return
		}
		_, _ = io.WriteString(w, r.Method+" "+r.URL.String()+" "+r.Header.Get("Plumbline-Token")+" "+r.Header.Get("Authorization")+r.Header.Get("Impersonate-User"))
	}))
	defer agent.Close()
	srv := kubelet(t, agent.Listener.Addr().String())
	defer srv.Close()
	c := forwarding(t, srv.URL)
	ask := func(ctx context.Context, pod, path string, limit int64) (string, error) {
		body, _, err := c.Proxy(ctx, AgentPod{Node: "w1", Namespace: "ns", Name: pod}, path, url.Values{"ip": {"10.0.0.1"}}, http.Header{AgentHeader: {"tok"}, "Impersonate-User": {"root"}})
		if err != nil {
			return "", err
		}
		b, err := io.ReadAll(io.LimitReader(body, limit))
		return string(b), errors.Join(err, body.Close())
	}
	if got, err := ask(t.Context(), "p", "v1/x", 1000); err != nil || got != "GET /v1/x?ip=10.0.0.1 tok " {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := ask(t.Context(), "forbidden", "v1/x", 1000); !errors.Is(err, ErrForbidden) {
		t.Errorf("forbidden: %v", err)
	}
	if _, err := ask(t.Context(), "odd", "v1/x", 1000); err == nil || !strings.Contains(err.Error(), "the API server answered 200 OK") {
		t.Errorf("an answer that is not the agent's: %v", err)
	}
	short, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := ask(short, "mute", "v1/x", 1000); err == nil {
		t.Error("a kubelet that accepts no stream")
	}
	before := runtime.NumGoroutine()
	for range 60 {
		if _, err := ask(t.Context(), "p", "v1/long", 10); err != nil {
			t.Fatal(err)
		}
	}
	var after int
	for range 1200 {
		if after = runtime.NumGoroutine(); after <= before+10 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("%d goroutines before, %d after 60 answers that were not read to their end", before, after)
}

// A port that nobody listens on is the agent's fault, not the API server's.
func TestPortForwardRefused(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().String()
	_ = l.Close()
	srv := kubelet(t, at)
	defer srv.Close()
	for range 10 { // why is waited for for a moment only
		_, _, err = forwarding(t, srv.URL).Proxy(t.Context(), AgentPod{Node: "w1", Namespace: "ns", Name: "p"}, "v1/x", nil, nil)
		if err == nil || errors.Is(err, ErrUnreachable) {
			t.Fatalf("%v", err)
		}
		if strings.HasSuffix(err.Error(), "502 Bad Gateway: port-forward: connection refused") {
			return
		}
	}
	t.Errorf("%v", err)
}
