//go:build e2e

package lead

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/kube"
	"plumbline.dev/plumbline/lab"
)

func TestMain(m *testing.M) { lab.Main(m) }

// TestLabLead: of three candidates one leads; when it ends another does, never two at a time; who cannot
// reach the API server stops.
func TestLabLead(t *testing.T) {
	l := lab.Start(t, lab.Config{ControlPlaneOnly: true})
	c, err := kube.Connect(kube.Options{Kubeconfig: l.Kubeconfig()})
	if err != nil {
		t.Fatal(err)
	}
	var leading, most atomic.Int32
	elected := make(chan string, 10)
	ends := map[string]context.CancelFunc{}
	done := make(chan string, 3)
	for i := range 3 {
		name := fmt.Sprintf("controller-%d", i)
		ctx, end := context.WithCancel(t.Context())
		ends[name] = end
		e := Election{Client: c, Namespace: "kube-system", Name: name, Elected: func(string) {}, Log: slog.Default(), Lead: func(ctx context.Context) {
			most.Store(max(most.Load(), leading.Add(1)))
			elected <- name
			<-ctx.Done()
			leading.Add(-1)
		}}
		go func() {
			if err := e.Run(ctx); err != nil {
				t.Error(err)
			}
			done <- name
		}()
	}
	next := func(what string) (name string) {
		t.Helper()
		began := time.Now()
		select {
		case name = <-elected:
		case <-time.After(30 * time.Second):
			t.Fatalf("%s: nobody leads", what)
		}
		t.Logf("%s: %s after %.1f s", what, name, time.Since(began).Seconds())
		return name
	}
	first := next("the first leader")
	ends[first]()
	if got := <-done; got != first {
		t.Errorf("%s ended, not %s", got, first)
	}
	second := next("the second leader")
	if who, err := l.Kubectl(t.Context(), "-n", "kube-system", "get", "lease", "plumbline-controller", "-o", "jsonpath={.spec.holderIdentity}"); err != nil || strings.TrimSpace(who) != second || second == first {
		t.Errorf("%s is elected, the Lease says %q, %v", second, who, err)
	}
	// Somebody takes the Lease by force: its holder leads no longer, and ends.
	if _, err := l.Kubectl(t.Context(), "-n", "kube-system", "patch", "lease", "plumbline-controller", "--type=merge", "-p", `{"spec":{"holderIdentity":"somebody"}}`); err != nil {
		t.Fatal(err)
	}
	select {
	case got := <-done:
		if got != second {
			t.Errorf("%s ended, not %s", got, second)
		}
	case <-time.After(stops + time.Minute):
		t.Error("a leader whose Lease was taken goes on")
	}
	if most.Load() != 1 {
		t.Errorf("%d led at a time", most.Load())
	}
}
