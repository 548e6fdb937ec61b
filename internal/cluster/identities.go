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

	listing chan struct{} // holds one element while all are read

	mu  sync.Mutex
	all map[string]agent.Identity // nil: not read yet
}

func newIdentities(c *kube.Client, namespace string) *identities {
	return &identities{client: c, namespace: namespace, listing: make(chan struct{}, 1)}
}

// Identity gives that of the agent on a node. Nobody waits for the request of another longer than ctx.
func (i *identities) Identity(ctx context.Context, node string, fresh bool) (agent.Identity, error) {
	if err := i.listOnce(ctx); err != nil {
		return agent.Identity{}, err
	}
	i.mu.Lock()
	id, ok := i.all[node]
	i.mu.Unlock()
	if ok && !fresh {
		return id, nil
	}
	name := agent.LeasePrefix + node
	annotations, err := i.client.Lease(ctx, i.namespace, name)
	if err != nil {
		return agent.Identity{}, fmt.Errorf("the agent has not published its key: %w", err)
	}
	if id, err = agent.ReadIdentity(name, annotations); err != nil {
		return agent.Identity{}, err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.all[node] = id
	return id, nil
}

// listOnce reads all of them, unless that was done.
func (i *identities) listOnce(ctx context.Context) error {
	i.mu.Lock()
	done := i.all != nil
	i.mu.Unlock()
	if done {
		return nil
	}
	select {
	case i.listing <- struct{}{}:
		defer func() { <-i.listing }()
	case <-ctx.Done():
		return ctx.Err()
	}
	i.mu.Lock()
	done = i.all != nil
	i.mu.Unlock()
	if done {
		return nil
	}
	return i.list(ctx)
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
	i.mu.Lock()
	defer i.mu.Unlock()
	i.all = all
	return nil
}

// trustAgents has the verifications of the agents checked by the keys that they published.
func (r *Run) trustAgents(ctx context.Context) error {
	if err := r.client.Denies(ctx, leasePolicy); err != nil {
		return fmt.Errorf("agents cannot be trusted, and nothing is repaired: the ValidatingAdmissionPolicy %s that protects their keys is not in force (it needs Kubernetes 1.30 or later; install it with the agents, docs/agent.md): %w", leasePolicy, err)
	}
	r.ids = newIdentities(r.client, r.fleet.namespace)
	r.fleet.Identities = r.ids
	return nil
}
