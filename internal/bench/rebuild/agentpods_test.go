//go:build e2e

package rebuild

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"plumbline.dev/plumbline/internal/kube/review"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
	"plumbline.dev/plumbline/lab"
)

const podPath = "/api/v1/namespaces/" + lab.AgentNamespace + "/pods"

// staff gives every node an agent: its pod, as the DaemonSet would create it, and a real
// agent that answers at the pod's address, which is its node's.
func (c *cluster) staff(t *testing.T, r *report) {
	t.Helper()
	began := time.Now()
	manifest, err := os.ReadFile("../../../deploy/repair.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Apply(t.Context(), string(manifest)); err != nil {
		t.Fatal(err)
	}
	// All nodes' addresses belong to this machine, inside the lab.
	if out, err := exec.CommandContext(t.Context(), "ip", "route", "add", "local", "172.16.0.0/12", "dev", "lo").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	debug.SetGCPercent(25) // this one process stores the state of all agents
	each(t, c.hosts, func(ctx context.Context, h *host) error { return c.agentPod(ctx, h) })
	c.answer(t, c.reviewer(t))
	r.add("agents' pods and agents", short(time.Since(began)), fmt.Sprintf("%d", len(c.hosts)))
}

// agentPod creates the pod of a node's agent, running and ready.
func (c *cluster) agentPod(ctx context.Context, h *host) error {
	name := "plumbline-agent-" + h.name[strings.LastIndexByte(h.name, '-')+1:]
	b, err := c.ask(ctx, http.MethodPost, podPath, fmt.Appendf(nil, `{"metadata":{"name":%q,"labels":{"app.kubernetes.io/name":"plumbline","app.kubernetes.io/version":"dev","app.kubernetes.io/component":"agent"}},
"spec":{"nodeName":%q,"hostNetwork":true,"hostPID":true,"serviceAccountName":"plumbline-agent","dnsPolicy":"Default","priorityClassName":"system-node-critical","tolerations":[{"operator":"Exists"}],
"containers":[{"name":"agent","image":"plumbline.dev/plumbline-agent:dev","ports":[{"name":"https","containerPort":9474,"hostPort":9474}]}]}}`, name, h.name))
	if err != nil {
		return err
	}
	var o map[string]any
	if err := json.Unmarshal(b, &o); err != nil {
		return err
	}
	now := time.Now().UTC().Format(time.RFC3339)
	ready := func(kind string) map[string]any {
		return map[string]any{"type": kind, "status": "True", "lastTransitionTime": now}
	}
	o["status"] = map[string]any{
		"phase": "Running", "hostIP": h.ip.String(), "hostIPs": []any{map[string]any{"ip": h.ip.String()}}, "podIP": h.ip.String(), "podIPs": []any{map[string]any{"ip": h.ip.String()}},
		"startTime": now, "conditions": []any{ready("Initialized"), ready("Ready"), ready("ContainersReady"), ready("PodScheduled")},
	}
	b, err = json.Marshal(o)
	if err != nil {
		return err
	}
	if _, err = c.ask(ctx, http.MethodPut, podPath+"/"+name+"/status", b); err != nil {
		return err
	}
	meta, _ := o["metadata"].(map[string]any)
	h.agent = &model.Pod{Namespace: lab.AgentNamespace, Name: name, UID: fmt.Sprint(meta["uid"])}
	return nil
}

// reviewer reviews tokens at the API server with the permissions of agents.
func (c *cluster) reviewer(t *testing.T) *review.Reviewer {
	t.Helper()
	token, err := c.Kubectl(t.Context(), "-n", lab.AgentNamespace, "create", "token", "plumbline-agent", "--duration=12h")
	if err != nil {
		t.Fatal(err)
	}
	cfg := rest.AnonymousClientConfig(c.config)
	cfg.BearerToken = strings.TrimSpace(token)
	r, err := review.NewFor(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func collectors(h *host) []observe.NodeCollector { return []observe.NodeCollector{h.collector()} }

// each calls a function for all, a few at a time.
func each[T any](t *testing.T, all []T, do func(context.Context, T) error) {
	t.Helper()
	var next atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(all)) && !t.Failed(); i = next.Add(1) - 1 {
				if err := do(t.Context(), all[i]); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

func itoa(n int) string { return strconv.Itoa(n) }
