//go:build e2e

package repair

import (
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// What a middle does with a request for a verification.
const (
	forges     = "answers itself, with a key of its own"
	sendsAgain = "sends the first answer again"
)

// A middle stands between the API server and the agent of a node, and passes on what is no
// verification.
type middle struct {
	t    *testing.T
	mood atomic.Pointer[string]
	lied atomic.Int32
	rule []string
}

const (
	agentPort = "9474"
	ownMark   = 77 // of the packets of the middle itself
)

// between redirects the API server's connections to the agent.
func between(t *testing.T, node, addr string) *middle {
	t.Helper()
	m := &middle{t: t}
	dialer := &net.Dialer{Control: func(_, _ string, c syscall.RawConn) error {
		var err error
		if outer := c.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_MARK, ownMark) }); outer != nil {
			return outer
		}
		return err
	}}
	pass := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "https", Host: net.JoinHostPort(addr, agentPort)})
	pass.Transport = &http.Transport{DialContext: dialer.DialContext, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} // as the API server's proxy
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	var first atomic.Pointer[httptest.ResponseRecorder]
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/v1/verify") {
			pass.ServeHTTP(w, r)
			return
		}
		m.lied.Add(1)
		if *m.mood.Load() == forges {
			w.Header().Set("Plumbline-Agent-Protocol", "3")
			_ = json.NewEncoder(w).Encode(forged(key, node, r.URL.Query()))
			return
		}
		if first.Load() == nil {
			got := httptest.NewRecorder()
			pass.ServeHTTP(got, r)
			first.CompareAndSwap(nil, got)
		}
		for k, v := range first.Load().Header() {
			w.Header()[k] = v
		}
		_, _ = w.Write(first.Load().Body.Bytes())
	}))
	t.Cleanup(srv.Close)
	_, port, err := net.SplitHostPort(srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	m.rule = []string{"OUTPUT", "-p", "tcp", "-d", addr, "--dport", agentPort, "-m", "mark", "!", "--mark", "77", "-j", "DNAT", "--to-destination", "127.0.0.1:" + port}
	m.iptables("-I")
	t.Cleanup(func() { m.iptables("-D") })
	time.Sleep(idle)
	return m
}

// idle is how long an agent keeps a connection that the API server does not use.
const idle = 17 * time.Second

// be changes what it does.
func (m *middle) be(mood string) {
	m.mood.Store(&mood)
	m.lied.Store(0)
}

// end takes it out of the way.
func (m *middle) end() {
	m.iptables("-D")
	m.rule = nil
	time.Sleep(idle)
}

func (m *middle) iptables(do string) {
	m.t.Helper()
	if m.rule == nil {
		return
	}
	out, err := exec.CommandContext(context.WithoutCancel(m.t.Context()), "iptables", append([]string{"-t", "nat", do}, m.rule...)...).CombinedOutput()
	if err != nil {
		m.t.Fatalf("%v: %s", err, out)
	}
}

// forged says that nothing is in use.
func forged(key ed25519.PrivateKey, node string, asked url.Values) map[string]any {
	body, _ := json.Marshal(map[string]any{
		"nonce": asked.Get("nonce"), "node": node, "taken": "2026-01-01T00:00:00Z", "ips": asked["ip"], "containers": asked["container"], "all": asked.Has("all"),
		"complete": true, "bootID": "b", "nodeName": node, "calicoName": node, "configName": node, "network": "k8s-pod-network",
	})
	return map[string]any{"body": json.RawMessage(body), "signature": ed25519.Sign(key, append([]byte("plumbline verification v1\x00"), body...))}
}
