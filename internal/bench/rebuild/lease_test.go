//go:build e2e

package rebuild

import (
	"context"
	"encoding/json"
	"net/http"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/lab"
)

// A lease is where the agent of a node publishes its key. The bench writes it as administrator:
// its agents are not pods with tokens of their own.
type lease struct {
	c    *cluster
	node string
}

func (lease) Read(context.Context) (map[string]string, error) { return nil, nil }

func (l lease) Write(ctx context.Context, annotations map[string]string) error {
	body, err := json.Marshal(map[string]any{
		"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
		"metadata": map[string]any{"name": agent.LeasePrefix + l.node, "annotations": annotations},
	})
	if err == nil {
		_, err = l.c.ask(ctx, http.MethodPost, "/apis/coordination.k8s.io/v1/namespaces/"+lab.AgentNamespace+"/leases", body)
	}
	return err
}
