//go:build e2e

package agents

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"plumbline.dev/plumbline/internal/kube/review"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/lab"
)

const podPath = "/api/v1/namespaces/" + lab.AgentNamespace + "/pods"

// staff gives every node an agent: its pod, as the DaemonSet would create it, and a
// server at the pod's address, which is its node's.
func (c *cluster) staff(t *testing.T, r *report) {
	t.Helper()
	began := time.Now()
	c.install(t)
	c.each(t, 8, func(ctx context.Context, h *host) error {
		if err := c.agentPod(ctx, h); err != nil {
			return err
		}
		var err error
		h.state = h.nodeState()
		h.body, err = h.tables(h.state, time.Now(), model.FactTables())
		return err
	})
	c.answer(t, c.reviewer(t))
	size := 0
	for _, h := range c.hosts {
		size += len(h.body)
		h.pods = nil
	}
	r.add("agents", short(time.Since(began)), fmt.Sprintf("%d, with answers of %d bytes each", len(c.hosts), size/len(c.hosts)))
}

// install applies the manifest, and gives all nodes' addresses to this machine, inside the lab.
func (c *cluster) install(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(*manifest)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Apply(t.Context(), string(text)); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "ip", "route", "add", "local", "172.16.0.0/12", "dev", "lo").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
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
	ip := []any{map[string]any{"ip": h.ip.String()}}
	o["status"] = map[string]any{
		"phase": "Running", "hostIP": h.ip.String(), "hostIPs": ip, "podIP": h.ip.String(), "podIPs": ip,
		"startTime": now, "conditions": []any{ready("Initialized"), ready("Ready"), ready("ContainersReady"), ready("PodScheduled")},
	}
	if b, err = json.Marshal(o); err != nil {
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

// each calls a function for all hosts, so many at a time.
func (c *cluster) each(t *testing.T, atOnce int, do func(context.Context, *host) error) {
	t.Helper()
	var next atomic.Int64
	var wg sync.WaitGroup
	for range atOnce {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(c.hosts)) && !t.Failed(); i = next.Add(1) - 1 {
				if err := do(t.Context(), c.hosts[i]); err != nil {
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
