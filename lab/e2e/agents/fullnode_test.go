//go:build e2e

package agents

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/build"
	"plumbline.dev/plumbline/lab/stage"
)

const filler = `{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "filler", "namespace": "default"}, "spec": {"nodeName": "node1", "automountServiceAccountToken": false,
"containers": [{"name": "main", "image": "%s", "args": ["serve"], "resources": {"requests": {"cpu": "%dm"}}}]}}`

// TestFullNode installs agents where a pod takes all CPU of a node: the agent of that node waits, and nobody is evicted. When the
// pod goes, the agent starts.
func TestFullNode(t *testing.T) {
	ctx := t.Context()
	l := lab.Start(t, lab.Config{Nodes: 2, Datastore: lab.KDD})
	get := func(args ...string) string {
		t.Helper()
		out, err := l.Kubectl(ctx, args...)
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(out)
	}
	var node struct {
		Status struct{ Allocatable struct{ CPU string } }
	}
	if err := l.Get(ctx, "/api/v1/nodes/node1", &node); err != nil {
		t.Fatal(err)
	}
	var cores int
	if _, err := fmt.Sscanf(node.Status.Allocatable.CPU, "%d", &cores); err != nil || strings.HasSuffix(node.Status.Allocatable.CPU, "m") {
		t.Fatalf("allocatable CPU %q: %v", node.Status.Allocatable.CPU, err)
	}
	used := 0 // by what runs there already
	for _, text := range strings.Fields(get("get", "pods", "-A", "--field-selector=spec.nodeName=node1", "-o", "jsonpath={.items[*].spec.containers[*].resources.requests.cpu}")) {
		n := 0
		if _, err := fmt.Sscanf(text, "%dm", &n); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		used += n
	}
	if err := l.Apply(ctx, `{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": "default"}}`); err != nil {
		t.Fatal(err)
	}
	if err := l.Apply(ctx, fmt.Sprintf(filler, build.WorkloadImage, cores*1000-used-5)); err != nil { // an agent wants 10m
		t.Fatal(err)
	}
	get("-n", "default", "wait", "--for=condition=Ready", "--timeout=120s", "pod/filler")
	uid := get("-n", "default", "get", "pod", "filler", "-o", "jsonpath={.metadata.uid}")

	done := make(chan error, 1)
	go func() {
		done <- lab.InstallAgents(context.WithoutCancel(ctx), l, filepath.Clean(*binary), "../../../deploy/repair.yaml")
	}()
	agentOn := func(node string) string {
		out, err := l.Kubectl(ctx, "-n", lab.AgentNamespace, "get", "pods", "-l", "app.kubernetes.io/component=agent", "-o",
			`jsonpath={range .items[*]}{.status.phase} {.spec.nodeName} {.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields[0].values[0]}{"\n"}{end}`)
		if err != nil {
			return err.Error()
		}
		for line := range strings.Lines(out) {
			if f := strings.Fields(line); len(f) > 1 && f[len(f)-1] == node {
				return f[0]
			}
		}
		return "no pod: " + out
	}
	if err := lab.Eventually(ctx, 2*time.Minute, func(context.Context) error {
		return stage.Expect(agentOn("node2") == "Running" && agentOn("node1") == "Pending", "one agent, got %s and %s", agentOn("node2"), agentOn("node1"))
	}); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(3 * time.Second) { // the scheduler preempts within seconds
		if now := get("-n", "default", "get", "pod", "filler", "-o", "jsonpath={.metadata.uid} {.metadata.deletionTimestamp}{.status.phase}"); now != uid+" Running" {
			t.Fatalf("the pod that was there before: %s", now)
		}
	}
	get("-n", "default", "delete", "pod", "filler", "--wait=true")
	if err := lab.Eventually(ctx, 2*time.Minute, func(context.Context) error {
		return stage.Expect(agentOn("node1") == "Running", "the agent to start, got %s", agentOn("node1"))
	}); err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Logf("the installation did not wait as long: %v", err)
	}
}
