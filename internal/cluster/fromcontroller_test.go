package cluster

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/kube"
)

// TestControllerThatHangs: who begins to answer and then sends nothing is not waited for.
func TestControllerThatHangs(t *testing.T) {
	t.Parallel()
	stop := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if strings.HasSuffix(q.URL.Path, "/token") {
			_, _ = fmt.Fprint(w, `{"status":{"token":"a.b.c","expirationTimestamp":"2035-01-01T00:00:00Z"}}`)
			return
		}
		_, _ = fmt.Fprint(w, `{"apiVersion":`)
		_ = http.NewResponseController(w).Flush()
		<-stop
	}))
	defer srv.Close()
	defer close(stop)
	file := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","clusters":[{"name":"c","cluster":{"server":%q}}],"users":[{"name":"u","user":{}}],"contexts":[{"name":"x","context":{"cluster":"c","user":"u"}}],"current-context":"x"}`, srv.URL)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := connect(Options{Kube: kube.Options{Kubeconfig: file, Timeout: 3 * time.Second}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err = c.askController(ctx, newAgentTokens(c.client, "plumbline-system", readerAccount), kube.AgentPod{Namespace: "plumbline-system", Name: "plumbline-controller-a-b", Port: 9479}, question{read: ReadRows})
	if err == nil || !strings.Contains(err.Error(), "sent nothing for 3s") {
		t.Error(err)
	}
}
