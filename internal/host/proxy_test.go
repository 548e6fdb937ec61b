package host

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"plumbline.dev/plumbline/internal/model"
)

func TestReadProxy(t *testing.T) {
	t.Parallel()
	tr, _ := newTree(t)
	live, health := http.StatusOK, http.StatusOK
	hangs := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case live == 0:
			<-hangs
		case r.URL.Path == "/livez":
			w.WriteHeader(live)
		default:
			w.WriteHeader(health)
		}
	}))
	h := New(Options{Proc: tr.dir, Root: t.TempDir(), ProxyHealth: []string{srv.URL}})
	want := func(state, when string) {
		t.Helper()
		var f model.NodeState
		if err := h.readProxy(t.Context(), &f); err != nil || len(f.Proxies) != 1 || f.Proxies[0].State != state {
			t.Errorf("%s: got %+v, %v, want %s", when, f.Proxies, err, state)
		}
	}
	want("ready", "in a process of another name, as k3s has it")
	health = http.StatusServiceUnavailable
	want("ready", "on a node that is being removed")
	live = http.StatusServiceUnavailable
	want("not ready", "behind")
	live = http.StatusNotFound
	want("not ready", "before 1.28")
	health = http.StatusNotFound
	want("unknown", "somebody else's port")
	health = http.StatusOK
	want("ready", "before 1.28")
	tr.put(70, "kube-proxy", 'T')
	want("stopped", "stopped")
	tr.put(70, "kube-proxy", 'S')
	live = 0
	want("no answer", "hangs")
	close(hangs)
	srv.Close()
	want("runs", "its health is elsewhere")
	tr.put(70, "another", 'S')
	want("not running", "gone")
}
