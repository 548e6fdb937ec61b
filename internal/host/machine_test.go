package host

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/model"
)

func TestReadMachine(t *testing.T) {
	t.Parallel()
	code := http.StatusNoContent
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }))
	tr, _ := newTree(t)
	root := t.TempDir()
	write(t, tr.dir, "sys/kernel/random/boot_id", "b1946ac9\n")
	write(t, tr.dir, "sys/kernel/osrelease", "6.1.0\n")
	write(t, tr.dir, "uptime", "12345.67 1.0\n")
	write(t, root, "var/lib/calico/nodename", "node-one\n")
	tr.put(50, "calico-node", 'S')
	tr.file(50, "environ", "FELIX_INTERFACEPREFIX=cali\x00ETCD_PASSWORD=hunter2\x00")
	tr.file(50, "cmdline", "calico-node\x00-felix\x00")
	h := New(Options{Proc: tr.dir, Root: root, NodeName: "n1", Readiness: srv.URL + "/readiness"})
	look := func() model.Machine {
		t.Helper()
		var f model.NodeState
		if err := h.readMachine(t.Context(), &f); err != nil || len(f.Machines) != 1 {
			t.Fatalf("got %+v, %v", f.Machines, err)
		}
		return f.Machines[0]
	}
	m := look()
	for try := 0; m.Felix != "ready" && try < 20; try++ { // Felix is waited for for a moment only
		m = look()
	}
	if m.BootID != "b1946ac9" || m.Uptime != 12345 || m.NodeName != "n1" || m.CalicoName != "node-one" || m.NetNS != 4026531840 || m.Kernel != "6.1.0" || m.Felix != "ready" ||
		!maps.Equal(m.Settings, map[string]string{"FELIX_INTERFACEPREFIX": "cali"}) {
		t.Errorf("got %+v", m)
	}
	code = http.StatusServiceUnavailable
	if m = look(); m.Felix != "not ready" {
		t.Errorf("503: %q", m.Felix)
	}
	srv.Close()
	if m = look(); m.Felix != "not ready" {
		t.Errorf("refused: %q", m.Felix)
	}
	if m.Kubelet != 0 {
		t.Errorf("no kubelet, started %d s after the boot", m.Kubelet)
	}
	tr.put(60, "kubelet", 'S')
	stat := "60 (kubelet) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 123456 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 140000 140100 0\n"
	tr.file(60, "stat", stat)
	if m = look(); m.Kubelet != 1234 {
		t.Errorf("the kubelet started %d s after the boot", m.Kubelet)
	}
	tr.put(50, "another", 'S')
	if m = look(); m.Felix != "not running" || m.Settings != nil {
		t.Errorf("no Felix: %q %v", m.Felix, m.Settings)
	}
}

func TestReadinessPort(t *testing.T) {
	t.Parallel()
	h := New(Options{})
	if got := h.readinessURL(&felix{set: map[string]string{"FELIX_HEALTHPORT": "9199"}}); got != "http://127.0.0.1:9199/readiness" {
		t.Errorf("got %s", got)
	}
	if got := h.readinessURL(&felix{}); got != readiness {
		t.Errorf("not told: %s", got)
	}
}

// Nobody waits for a look that hangs any longer than he has time.
func TestTurn(t *testing.T) {
	t.Parallel()
	_, h := newTree(t)
	if err := h.procs.take(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := h.readProcesses(ctx, &model.NodeState{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if _, err := h.CNICalls(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}
