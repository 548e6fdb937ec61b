//go:build e2e

package fleet

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/build"
	"plumbline.dev/plumbline/lab/e2e/outside"
)

const serving = `{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "%s"}, "spec": {"nodeName": "node1", "automountServiceAccountToken": false, "containers": [{"name": "main", "image": "%s", "args": ["serve"]}]}}`

// TestCrossedEtcd has two clusters with equal names of nodes and equal pools, each with an etcd of its own for Calico. The kubeconfig
// of one with the etcd of the other: every record there looks leaked. Nothing is planned and nothing is applied. With its own etcd
// the same cluster is planned.
func TestCrossedEtcd(t *testing.T) {
	before := outside.Look(t)
	names := []string{"crossed-a", "crossed-b"}
	t.Cleanup(func() {
		for _, name := range names {
			if err := lab.Down(context.Background(), name); err != nil {
				t.Error(err)
			}
		}
	})
	for _, name := range names {
		outside.Must(t, "up", "--name", name, "--nodes", "1", "--datastore", "etcd")
		apply(t, name, `{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": "default"}}`)
		for _, pod := range []string{"one", "two"} {
			apply(t, name, fmt.Sprintf(serving, name+"-"+pod, build.WorkloadImage))
		}
		for _, pod := range []string{"one", "two"} {
			outside.Must(t, "kubectl", "--name", name, "wait", "--for=condition=Ready", "--timeout=120s", "pod/"+name+"-"+pod)
		}
		inRoot(t, "agents", "--name", name)
		outside.Must(t, "kubectl", "--name", name, "-n", "plumbline-system", "rollout", "status", "daemonset/plumbline-agent", "--timeout=120s")
	}
	// In the second lab the first one's API server is at a port of loopback.
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(t.TempDir(), "s")
	background(t, "do", "--name", "crossed-a", "--", self, "-relay="+socket)
	background(t, "do", "--name", "crossed-b", "--", self, "-from=127.0.0.1:16443", "-relay="+socket)
	k := config{"apiVersion": "v1", "kind": "Config", "clusters": []any{}, "users": []any{}, "contexts": []any{}}
	k.add(t, "crossed-a", "127.0.0.1:16443")
	crossed := k.write(t)

	own := inLab(t, "crossed-a", "", "plan", "--settle=1s", "--code=PL1001,PL1006,PL2001,PL2002")
	if strings.Contains(own, "is not this cluster's") {
		t.Errorf("with its own etcd:\n%s", own)
	}
	out := inLab(t, "crossed-b", crossed, "plan", "--settle=1s", "--allow-mass-change")
	if !strings.Contains(out, "the etcd is not this cluster's") || !strings.Contains(out, "none of the 2 sandboxes") {
		t.Errorf("with the other's etcd:\n%s", out)
	}
	t.Logf("with its own etcd:\n%s\nwith the other's:\n%s", own, out)
	for _, name := range names { // all four pods are still served by their records
		for _, pod := range []string{"one", "two"} {
			outside.Must(t, "kubectl", "--name", name, "wait", "--for=condition=Ready", "--timeout=20s", "pod/"+name+"-"+pod)
		}
		outside.Must(t, "down", "--name", name)
	}
	outside.NothingLeft(t, before)
}

// inRoot runs the lab command where the built programs and manifests are.
func inRoot(t *testing.T, args ...string) {
	t.Helper()
	cmd := outside.Command(t.Context(), t, args...)
	cmd.Dir = "../../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%q: %v: %s", args, err, out)
	}
}

// inLab runs plumbline inside of a lab, with its etcd, and its kubeconfig unless there is another.
func inLab(t *testing.T, name, kubeconfig string, args ...string) string {
	t.Helper()
	bin, err := filepath.Abs("../../../bin/plumbline")
	if err != nil {
		t.Fatal(err)
	}
	if kubeconfig != "" {
		args = append(args, "--kubeconfig="+kubeconfig, "--context=crossed-a")
	}
	const pki = "/run/plumbline-lab/etcd-pki/"
	args = append(args, "--etcd-endpoints=https://192.168.77.254:12379", "--etcd-cacert="+pki+"ca.crt", "--etcd-cert="+pki+"calico.crt", "--etcd-key="+pki+"calico.key")
	cmd := outside.Command(t.Context(), t, append([]string{"do", "--name", name, "--", bin}, args...)...)
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+t.TempDir())
	out, _ := cmd.CombinedOutput() // the exit code says whether something was found
	return string(out)
}

// background runs a lab command until the test ends, and waits until it is at work.
func background(t *testing.T, args ...string) {
	t.Helper()
	cmd := outside.Command(t.Context(), t, args...)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	time.Sleep(2 * time.Second)
}
