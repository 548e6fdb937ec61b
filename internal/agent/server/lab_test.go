//go:build e2e

package server_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/stage"
)

func TestMain(m *testing.M) { lab.Main(m) }

// TestLabAgent runs the agent that make build made, by the manifest that we ship, on a
// real node with a real Calico.
func TestLabAgent(t *testing.T) {
	l := lab.Start(t, lab.Config{Nodes: 1})
	install(t, l)
	a := askAs(t, l, "plumbline-reader")
	t.Run("strangers are kept out", func(t *testing.T) { strangers(t, l) })
	s := &stage.Stage{Lab: l, Namespace: "default", Tell: func(line string) { t.Log(line) }}
	pod, err := s.Run(t.Context(), stage.PodSpec{Name: "web", Node: "node1"})
	if err != nil {
		t.Fatal(err)
	}
	t.Run("signatures", func(t *testing.T) { signatures(t, l, a) })
	t.Run("flood", func(t *testing.T) { flood(t, l, a) })
	t.Run("verification", func(t *testing.T) { verificationWith(t, s, a, pod) })
	t.Run("live", func(t *testing.T) { live(t, s, a, 10) })
	t.Run("watched", func(t *testing.T) { watched(t, s, a) })
	t.Run("IPAM lock", func(t *testing.T) { lockWaits(t, s) })
	t.Run("writers", func(t *testing.T) { writers(t, s, a) })
	t.Run("frozen runtime", func(t *testing.T) { frozen(t, s, a) })
	t.Run("hung mount", func(t *testing.T) { hung(t, s, a) })
	t.Run("root on the node", func(t *testing.T) { onTheNode(t, l) })
	t.Run("rights", func(t *testing.T) { rights(t, s, a) })
}

// install puts the built agent onto the nodes.
func install(t *testing.T, l *lab.Lab) {
	t.Helper()
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(wd, "..", "..", "..")
	if err := lab.InstallAgents(t.Context(), l, filepath.Join(root, "bin", "plumbline-agent"), filepath.Join(root, "deploy", "repair.yaml")); err != nil {
		t.Fatal(err)
	}
}

func token(t *testing.T, l *lab.Lab, ns, account, audience string) string {
	t.Helper()
	args := []string{"-n", ns, "create", "token", account}
	if audience != "" {
		args = append(args, "--audience="+audience)
	}
	out, err := l.Kubectl(t.Context(), args...)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out)
}

// An asker talks to the agent of node1 itself, past the API server's proxy.
type asker struct {
	agent.Fleet
	caller *agent.Caller
	do     func(ctx context.Context, method, path, query string, head http.Header) (*http.Response, error)
}

// askAs has a token of the account, for a new caller.
func askAs(t *testing.T, l *lab.Lab, account string) *asker {
	t.Helper()
	n, err := l.Node(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	// The agent's certificate is its own, as it is for the API server's proxy.
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	t.Cleanup(client.CloseIdleConnections)
	a := &asker{Fleet: agent.Fleet{Nodes: []string{"node1"}, Now: time.Now, Identities: &leases{l: l}}, caller: agent.NewCaller()}
	a.do = func(ctx context.Context, method, path, query string, head http.Header) (*http.Response, error) {
		q, err := http.NewRequestWithContext(ctx, method, fmt.Sprintf("https://%s:%d/%s?%s", n.Addr(), agent.Port, path, query), nil)
		if err != nil {
			return nil, err
		}
		q.Header = head
		return client.Do(q)
	}
	own := token(t, l, "plumbline-system", account, a.caller.Audience())
	a.Open = func(ctx context.Context, node, path string, query url.Values) (io.ReadCloser, error) {
		head := a.caller.Headers(own, node, http.MethodGet, path, query, nil)
		resp, err := a.do(ctx, http.MethodGet, path, query.Encode(), head)
		if err != nil {
			return nil, err
		}
		if resp.StatusCode != http.StatusOK {
			_ = resp.Body.Close()
			return nil, fmt.Errorf("%s", resp.Status)
		}
		return agent.Verified(resp.Body, agent.Expected{Of: node, Path: path, Query: query, Header: head, Key: agent.KeyOf(ctx, a.Identities, node)}), nil
	}
	return a
}

// status sends a request that the caller signs for node1.
func (a *asker) status(ctx context.Context, method, path, token string) (int, string) {
	return a.sent(ctx, method, path, a.caller.Headers(token, "node1", method, path, nil, nil))
}

func (a *asker) sent(ctx context.Context, method, path string, head http.Header) (int, string) {
	resp, err := a.do(ctx, method, path, "", head)
	if err != nil {
		return 0, err.Error()
	}
	b, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
	_ = resp.Body.Close()
	return resp.StatusCode, string(b)
}
