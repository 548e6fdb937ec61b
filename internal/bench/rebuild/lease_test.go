//go:build e2e

package rebuild

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"time"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/lab"
)

// A lease is where the agent of a node publishes its key. The bench writes it as administrator:
// its agents are not pods with tokens of their own.
type lease struct {
	c         *cluster
	node      string
	published map[string]string
}

func (l *lease) Account() string { return "bench" }

func (l *lease) Read(context.Context) (map[string]string, uint64, error) { return l.published, 0, nil }

// Write creates it; an agent writes the same again from time to time, which is a read here.
func (l *lease) Write(ctx context.Context, annotations map[string]string, _ time.Time) (uint64, error) {
	const all = "/apis/coordination.k8s.io/v1/namespaces/" + lab.AgentNamespace + "/leases"
	if l.published != nil && maps.Equal(l.published, annotations) {
		_, err := l.c.ask(ctx, http.MethodGet, all+"/"+agent.LeasePrefix+l.node, nil)
		return 0, err
	}
	body, err := json.Marshal(map[string]any{
		"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
		"metadata": map[string]any{"name": agent.LeasePrefix + l.node, "annotations": annotations},
	})
	if err == nil {
		_, err = l.c.ask(ctx, http.MethodPost, all, body)
	}
	if err == nil {
		l.published = annotations
	}
	return 0, err
}
