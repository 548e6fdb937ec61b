//go:build e2e

package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/e2e/outside"
)

// A handle that no block knows: PL1006.
const orphan = `{"apiVersion": "crd.projectcalico.org/v1", "kind": "IPAMHandle", "metadata": {"name": "k8s-pod-network.0123456789"},
"spec": {"handleID": "k8s-pod-network.0123456789", "block": {"10.244.7.0/26": 1}, "deleted": false}}`

const info = `{"apiVersion": "crd.projectcalico.org/v1", "kind": "ClusterInformation", "metadata": {"name": "default"},
"spec": {"clusterGUID": "%s", "datastoreReady": true, "calicoVersion": "v3.31.0"}}`

// TestFleet checks three clusters side by side, one with a handle that no block knows, one with a node that never reported, and a fourth that does not answer; a shell
// completes names of one of them.
func TestFleet(t *testing.T) {
	before := outside.Look(t)
	names := []string{"fleet-a", "fleet-b", "fleet-c"}
	t.Cleanup(func() {
		for _, name := range names {
			if err := lab.Down(context.Background(), name); err != nil {
				t.Error(err)
			}
		}
	})
	k := config{"apiVersion": "v1", "kind": "Config", "clusters": []any{}, "users": []any{}, "contexts": []any{}}
	for _, name := range names {
		began := time.Now()
		outside.Must(t, "up", "--name", name, "--control-plane-only")
		k.add(t, name, reach(t, name))
		apply(t, name, fmt.Sprintf(info, name))
		t.Logf("%s is up after %.0f s", name, time.Since(began).Seconds())
	}
	apply(t, "fleet-b", orphan)
	apply(t, "fleet-a", `{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "w17"}}`)
	path := k.write(t)

	began := time.Now()
	out, diag, code := plumbline(t, path, "check", "--all-contexts", "--settle=1s", "--wait")
	t.Logf("three clusters in %.1f s\n%s%s", time.Since(began).Seconds(), diag, out)
	if code != 1 || !strings.Contains(out, "3 clusters checked: 2 findings") || !strings.Contains(out, "PL1006 (1)") || !strings.Contains(out, "Next: plumbline check --context fleet-a") {
		t.Errorf("exit %d", code)
	}
	t.Run("a context of the same cluster counts once", func(t *testing.T) {
		k.alias("fleet-b", "on-call")
		out, _, code := plumbline(t, k.write(t), "check", "--contexts", "fleet-b,on-call", "--settle=1s", "--wait")
		if code != 1 || !strings.Contains(out, "1 cluster checked: 1 finding") || !strings.Contains(out, "Counted once: on-call is the cluster of fleet-b") {
			t.Errorf("exit %d\n%s", code, out)
		}
	})
	t.Run("one does not answer", func(t *testing.T) {
		k.alias("fleet-c", "gone")
		k.server(t, "gone", closedPort(t))
		path := k.write(t)
		out, _, code := plumbline(t, path, "check", "--contexts", "fleet-a,fleet-c,gone", "--request-timeout=5")
		if code != 3 || !strings.Contains(out, "2 clusters checked, 1 NOT READ: 0 findings") || !strings.Contains(out, "Not read: gone: ") {
			t.Errorf("exit %d\n%s", code, out)
		}
		out, _, code = plumbline(t, path, "check", "--contexts", "gone,fleet-b", "--settle=1s", "--wait", "-o", "json")
		var doc struct {
			Clusters []struct {
				Error  string
				Report struct{ Findings []struct{} }
			}
		}
		if err := json.Unmarshal([]byte(out), &doc); err != nil || code != 1 || len(doc.Clusters) != 2 || doc.Clusters[0].Error == "" || len(doc.Clusters[1].Report.Findings) != 1 {
			t.Errorf("exit %d, %v: %+v", code, err, doc)
		}
		if out, _, code = plumbline(t, path, "check", "--contexts", "gone"); code != 2 || !strings.Contains(out, "0 clusters checked, 1 NOT READ") {
			t.Errorf("only that one: exit %d\n%s", code, out)
		}
		out, _, _ = plumbline(t, path, "check", "--all-contexts", "--settle=1s", "--wait", "-o", "html")
		if dir := os.Getenv("OUT"); dir != "" { // to look at it
			if err := os.WriteFile(filepath.Join(dir, "fleet.html"), []byte(out), 0o600); err != nil {
				t.Error(err)
			}
		}
		if !strings.Contains(out, "Not read: ") || !strings.Contains(out, "PL1006/k8s-pod-network.0123456789") {
			t.Error("the page does not say it")
		}
	})
	t.Run("completion in bash", func(t *testing.T) { completes(t, path) })
	for _, name := range names {
		outside.Must(t, "down", "--name", name)
	}
	outside.NothingLeft(t, before)
}

// plumbline runs the built command as a user of this kubeconfig would.
func plumbline(t *testing.T, kubeconfig string, args ...string) (out, diag string, code int) {
	t.Helper()
	bin, err := filepath.Abs("../../../bin/plumbline")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), bin, args...)
	cmd.Env = []string{"KUBECONFIG=" + kubeconfig, "HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}
	var o, d strings.Builder
	cmd.Stdout, cmd.Stderr = &o, &d
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return o.String(), d.String(), cmd.ProcessState.ExitCode()
}

func apply(t *testing.T, name, object string) {
	t.Helper()
	cmd := outside.Command(t.Context(), t, "kubectl", "--name", name, "create", "-f", "-")
	cmd.Stdin = strings.NewReader(object)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

func closedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}
