package cluster

import (
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/kube"
	"plumbline.dev/plumbline/internal/model"
)

// TestAnotherPodAnswers: what has the address of the controller's pod, such as a pod with a duplicate of it, can answer through the
// API server. Only what is signed with the key of the leader's Lease is shown.
func TestAnotherPodAnswers(t *testing.T) {
	t.Parallel()
	public, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	_, other, _ := ed25519.GenerateKey(nil)
	none := RowsOf(&audit.Report{View: model.Seal(&model.Snapshot{})}, nil)
	controller := http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		switch {
		case strings.HasSuffix(q.URL.Path, "/findings") && q.URL.Query().Has(agent.HeadOnly):
			_ = none.WriteHead(w, 0)
		case strings.HasSuffix(q.URL.Path, "/findings"):
			_ = none.Write(w, 0)
		case strings.HasSuffix(q.URL.Path, "/none"):
			http.Error(w, "nothing of that name", http.StatusNotFound)
		default:
			_, _ = io.WriteString(w, "<p>0 findings")
		}
	})
	for name, c := range map[string]struct {
		by   http.Handler
		want bool
	}{
		"the leader":      {agent.SignAnswers(key, agent.Controller, controller), true},
		"nobody":          {controller, false},
		"another pod":     {agent.SignAnswers(other, agent.Controller, controller), false},
		"an agent's name": {agent.SignAnswers(key, "n1", controller), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := connected(t, func(w http.ResponseWriter, q *http.Request) {
				_, path, proxied := strings.Cut(q.URL.Path, "/proxy/")
				switch {
				case proxied:
					own := q.Clone(q.Context())
					own.URL.Path = "/" + path
					c.by.ServeHTTP(w, own)
				case strings.HasSuffix(q.URL.Path, "/token"):
					w.Header().Set("Date", "Sun, 06 Nov 1994 08:49:37 GMT")
					_, _ = fmt.Fprint(w, `{"status":{"token":"a.b.c"}}`)
				case strings.HasSuffix(q.URL.Path, "/leases/plumbline-controller"):
					_ = json.NewEncoder(w).Encode(map[string]any{"metadata": map[string]any{"name": "plumbline-controller", "annotations": agent.KeyAnnotations(public)}})
				default:
					w.WriteHeader(http.StatusNotFound)
				}
			})
			cl := &Cluster{client: client, o: Options{Kube: kube.Options{}}}
			tokens := newAgentTokens(client, "plumbline-system", readerAccount)
			pod := kube.AgentPod{Namespace: "plumbline-system", Name: "plumbline-controller-a-b", Port: 9479}
			if _, err := cl.askController(t.Context(), tokens, pod, question{read: ReadRows}); (err == nil) != c.want || err != nil && !errors.Is(err, agent.ErrUnsignedAnswer) {
				t.Errorf("findings: %v", err)
			}
			p := &ControllerPages{c: cl, in: "plumbline-system", tokens: tokens}
			for _, page := range []string{"", "none"} {
				status, body, err := p.page(t.Context(), pod, page, nil)
				var text []byte
				if err == nil {
					text, err = io.ReadAll(body)
				}
				if (err == nil) != c.want || err == nil && len(text) == 0 {
					t.Errorf("page %q: %d %q, %v", page, status, text, err)
				}
				if err != nil && strings.Contains(string(text), "<p>") {
					t.Errorf("page %q is shown: %s", page, text)
				}
			}
		})
	}
}
