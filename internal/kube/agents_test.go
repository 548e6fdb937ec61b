package kube

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

func TestAgentPods(t *testing.T) {
	t.Parallel()
	got := agentPods([]model.Pod{
		{Namespace: "plumbline-system", Name: "a", Node: "w1", HostNetwork: true, Ready: true, Phase: model.Running},
		{Namespace: "shop", Name: "forged", Node: "w1", Ready: true, Phase: model.Running},
		{Namespace: "plumbline-system", Name: "waits", HostNetwork: true, Phase: model.Pending},
		{Namespace: "plumbline-system", Name: "over", Node: "w2", HostNetwork: true, Phase: model.Failed},
	})
	if want := []AgentPod{{Node: "w1", Namespace: "plumbline-system", Name: "a", Ready: true, Phase: model.Running}}; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	if err := oneNamespace([]AgentPod{{Namespace: "b"}, {Namespace: "a"}, {Namespace: "b"}}); err == nil || !strings.HasSuffix(err.Error(), ": a, b") {
		t.Errorf("%v", err)
	}
	if err := oneNamespace(got); err != nil {
		t.Error(err)
	}
}

func TestProxyPath(t *testing.T) {
	t.Parallel()
	pod := AgentPod{Namespace: "plumbline-system", Name: "plumbline-agent-x7"}
	got, err := ProxyPath(pod, "/v1/tables")
	if err != nil || got != "/api/v1/namespaces/plumbline-system/pods/https:plumbline-agent-x7:9474/proxy/v1/tables" {
		t.Errorf("%q, %v", got, err)
	}
	pod.Port = 9475
	if got, err := ProxyPath(pod, "v1/tables"); err != nil || !strings.Contains(got, ":9475/") || !agentPath.MatchString(got) {
		t.Errorf("%q, %v", got, err)
	}
	for _, bad := range []AgentPod{{Namespace: "a/b", Name: "c"}, {Namespace: "a", Name: "..%2f"}, {Namespace: "a", Name: ""}, {Namespace: "A", Name: "b"}, {Namespace: "a", Name: "b:1/x"}} {
		if got, err := ProxyPath(bad, "x"); err == nil {
			t.Errorf("%+v: %q", bad, got)
		}
	}
	if _, err := ProxyPath(pod, "v1/../../log"); err == nil {
		t.Error("a way out")
	}
}

func TestPortIn(t *testing.T) {
	t.Parallel()
	agent := func(port int, more string) string {
		return fmt.Sprintf(`{"spec":{"nodeName":"n1","hostNetwork":true,"containers":[{"name":"guard"},{"name":"agent","ports":[{"name":"https","containerPort":%d}]}]},"status":{"phase":"Running"}%s}`, port, more)
	}
	for name, test := range map[string]struct {
		body string
		want int
	}{
		"an agent":             {`{"items":[` + agent(9475, "") + `]}`, 9475},
		"a pod of the kubelet": {`{"items":[` + agent(10250, "") + `]}`, agentPort},
		"others first":         {`{"items":[{"spec":{"nodeName":"n1","containers":[{"name":"agent","ports":[{"name":"https","containerPort":9471}]}]}},` + agent(10250, "") + `,` + agent(9478, "") + `]}`, 9478},
		"one that has ended":   {`{"items":[` + strings.Replace(agent(9475, ""), "Running", "Failed", 1) + `]}`, agentPort},
		"none":                 {`{"items":[]}`, agentPort},
		"no JSON":              {`<html>`, agentPort},
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, test.body) }))
		if got := clientOf(t, srv.URL).portIn(t.Context(), "plumbline-system"); got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
		srv.Close()
	}
}

// The peer below is an HTTP server, not an API server: what is tested is what we send, and
// what we make of what comes back.
func TestProxy(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		what := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
		switch {
		case r.Method != http.MethodGet || !strings.HasPrefix(r.URL.Path, "/api/v1/namespaces/ns/pods/https:p:9474/proxy/") || r.Header.Get("Plumbline-Token") != "tok":
			w.WriteHeader(http.StatusTeapot)
		case what == "zipped":
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = fmt.Fprintf(z, "%s %s", r.Header.Get("Accept-Encoding"), r.URL.Query().Get("ip"))
			_ = z.Close()
		case what == "long":
			_, _ = io.CopyN(w, zeros{}, maxAnswer+10)
		case what == "absent":
			http.Error(w, "no such thing\x1b[2J", http.StatusNotFound)
		case what == "refused":
			http.Error(w, strings.Repeat("no ", 100000), http.StatusForbidden)
		}
	}))
	defer srv.Close()
	c := clientOf(t, srv.URL)
	pod := AgentPod{Node: "w1", Namespace: "ns", Name: "p"}
	ask := func(path string) ([]byte, error) {
		body, _, err := c.Proxy(t.Context(), pod, path, url.Values{"ip": {"10.0.0.1"}}, http.Header{AgentHeader: {"tok"}})
		if err != nil {
			return nil, err
		}
		b, err := io.ReadAll(body)
		return b, errors.Join(err, body.Close())
	}
	if b, err := ask("v1/zipped"); err != nil || string(b) != "gzip 10.0.0.1" {
		t.Errorf("zipped: %q, %v", b, err)
	}
	if b, err := ask("long"); !errors.Is(err, ErrTooBig) || len(b) != maxAnswer {
		t.Errorf("long: %d, %v", len(b), err)
	}
	if _, err := ask("absent"); err == nil || errors.Is(err, observe.ErrNotThere) || strings.Contains(err.Error(), "\x1b") || !strings.Contains(err.Error(), "no such thing") {
		t.Errorf("absent: %v", err)
	}
	_, err := ask("refused")
	if !errors.Is(err, ErrForbidden) || len(err.Error()) > 2000 || strings.Contains(err.Error(), "tok") {
		t.Errorf("refused: %v", err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestAgentToken(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		want := `{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{"audiences":["plumbline-agent"],"expirationSeconds":600}}`
		if r.Method != http.MethodPost || r.URL.Path != tokenOfReader || string(body) != want {
			t.Errorf("%s %s %s", r.Method, r.URL.Path, body)
		}
		w.Header().Set("Date", "Sun, 06 Nov 1994 08:49:37 GMT")
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"status":{"token":"tok"}}`)
	}))
	defer srv.Close()
	c := clientOf(t, srv.URL)
	token, at, err := c.AgentToken(t.Context(), "plumbline-system", "plumbline-reader", agentAudience)
	if err != nil || token != "tok" || at.Unix() != 784111777 {
		t.Errorf("%q, %s, %v", token, at, err)
	}
	for _, account := range []string{"default", "plumbline-agent", "../x"} {
		if _, _, err := c.AgentToken(t.Context(), "plumbline-system", account, agentAudience); err == nil {
			t.Errorf("a token for %s", account)
		}
	}
}

func TestBounded(t *testing.T) {
	t.Parallel()
	for size, most := range map[int]int64{0: 0, 5: 5, 6: 5, 100: 5, 4: 5} {
		b, err := io.ReadAll(&bounded{body: io.NopCloser(strings.NewReader(strings.Repeat("x", size))), left: most})
		if over := int64(size) > most; errors.Is(err, ErrTooBig) != over || (!over && err != nil) || int64(len(b)) != min(int64(size), most) {
			t.Errorf("%d of %d: %d, %v", size, most, len(b), err)
		}
	}
}
