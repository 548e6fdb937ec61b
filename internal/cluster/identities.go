package cluster

import (
	"context"
	"fmt"
	"sync"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/kube"
)

// leasePolicy is the admission policy that lets an agent write only the Lease of its own node.
// Without it the agent of one node could publish a key for another.
const leasePolicy = "plumbline-agent-lease"

// identities are what the agents published in their Leases: all are read once, and one again if
// an answer does not fit.
type identities struct {
	client    *kube.Client
	namespace string

	mu  sync.Mutex
	all map[string]agent.Identity // nil: not read yet
}

// Identity gives that of the agent on a node.
func (i *identities) Identity(ctx context.Context, node string, fresh bool) (agent.Identity, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.all == nil {
		if err := i.list(ctx); err != nil {
			return agent.Identity{}, err
		}
	}
	if id, ok := i.all[node]; ok && !fresh {
		return id, nil
	}
	name := agent.LeasePrefix + node
	annotations, err := i.client.Lease(ctx, i.namespace, name)
	if err != nil {
		return agent.Identity{}, fmt.Errorf("the agent has not published its key: %w", err)
	}
	id, err := agent.ReadIdentity(name, annotations)
	if err != nil {
		return agent.Identity{}, err
	}
	i.all[node] = id
	return id, nil
}

// names gives the names that Calico used for a node since the boot that its Node object has now,
// as published last.
func (i *identities) names(ctx context.Context, node, bootID string) ([]string, bool) {
	id, err := i.Identity(ctx, node, true)
	if err != nil || bootID == "" || id.BootID != bootID {
		return nil, false
	}
	return id.Names, len(id.Names) > 0
}

func (i *identities) list(ctx context.Context) error {
	all := map[string]agent.Identity{}
	err := i.client.Leases(ctx, i.namespace, func(name string, annotations map[string]string) {
		if id, err := agent.ReadIdentity(name, annotations); err == nil {
			all[id.Node] = id
		}
	})
	if err != nil {
		return fmt.Errorf("read the keys of the agents: %w", err)
	}
	i.all = all
	return nil
}

// trustAgents has the verifications of the agents checked by the keys that they published.
func (r *Run) trustAgents(ctx context.Context) error {
	if err := r.client.Denies(ctx, leasePolicy); err != nil {
		return fmt.Errorf("agents cannot be trusted, and nothing is repaired: the ValidatingAdmissionPolicy %s that protects their keys is not in force (it needs Kubernetes 1.30 or later; install it with the agents, docs/agent.md): %w", leasePolicy, err)
	}
	r.ids = &identities{client: r.client, namespace: r.fleet.namespace}
	r.fleet.Identities = r.ids
	return nil
}
