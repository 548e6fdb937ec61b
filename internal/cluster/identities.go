package cluster

import (
	"context"
	"errors"
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

	mu      sync.Mutex
	all     map[string]agent.Identity // nil: not read yet
	refused error                     // they may not be read
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
	done, refused := i.all != nil, i.refused
	i.mu.Unlock()
	if done || refused != nil {
		return refused
	}
	select {
	case i.listing <- struct{}{}:
		defer func() { <-i.listing }()
	case <-ctx.Done():
		return ctx.Err()
	}
	i.mu.Lock()
	done, refused = i.all != nil, i.refused
	i.mu.Unlock()
	if done || refused != nil {
		return refused
	}
	return i.list(ctx)
}

// identitiesOf are those of the agents of a namespace. They are kept: an agent's key is read again when it does not fit.
func (c *Cluster) identitiesOf(namespace string) *identities {
	c.tokensMu.Lock()
	defer c.tokensMu.Unlock()
	if c.ids[namespace] == nil {
		c.ids = map[string]*identities{namespace: newIdentities(c.client, namespace)}
	}
	return c.ids[namespace]
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
	i.mu.Lock()
	defer i.mu.Unlock()
	if err != nil {
		err = fmt.Errorf("read the keys of the agents: %w", err)
		if errors.Is(err, kube.ErrForbidden) {
			i.refused = err
		}
		return err
	}
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
