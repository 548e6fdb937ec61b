package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/kube"
	"plumbline.dev/plumbline/internal/kube/write"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// A GuardStatus is what an agent reports about the guard of its node.
type GuardStatus = agent.GuardStatus

// A GuardCall is a CNI call that a guard recorded.
type GuardCall = agent.GuardCall

// A CallQuestion selects calls.
type CallQuestion = agent.CallQuestion

// ErrOlderAgent means that the protocol of an agent is older than this version.
var ErrOlderAgent = agent.ErrOlder

// ErrNoAgents means that nobody can be asked.
var ErrNoAgents = errors.New("no agents are installed in this cluster")

// Guards are the agents that can be asked about the guards of their nodes.
type Guards struct {
	fleet     *agent.Fleet
	client    *kube.Client
	namespace string // of the agents
	nodes     []string
	none      map[string]error // nodes without an agent
}

// OpenGuards finds the agents of the cluster, or of one node. The Calico datastore is not
// needed for it.
func OpenGuards(ctx context.Context, o Options, node string) (*Guards, error) {
	c, err := connect(o)
	if err != nil {
		return nil, err
	}
	fleet, err := c.agents(ctx)
	switch {
	case err != nil:
		return nil, fmt.Errorf("list agents: %w", err)
	case fleet == nil:
		return nil, ErrNoAgents
	}
	p := &Guards{fleet: fleet.Fleet, client: c.client, namespace: fleet.namespace, nodes: fleet.Nodes, none: map[string]error{}}
	if node != "" {
		if _, there := fleet.pods[node]; !there {
			return nil, fmt.Errorf("node %s: %w", node, errNoAgent)
		}
		p.nodes = []string{node}
		return p, nil
	}
	s := observe.Snapshot(ctx, func(string, int, bool) {}, kube.Nodes{Client: c.client})
	if c.o.Notice != nil && len(s.Coverage) > 0 && s.Coverage[0].State != model.Complete {
		c.o.Notice("nodes without an agent are not known: " + s.Coverage[0].Reason)
	}
	for i := range s.Nodes {
		if _, there := fleet.pods[s.Nodes[i].Name]; !there && expectsAgent(&s.Nodes[i]) {
			p.none[s.Nodes[i].Name] = errNoAgent
		}
	}
	return p, ctx.Err()
}

// Guards gives the agents of an open cluster; nil if there are none.
func (c *Cluster) Guards() *Guards {
	if c.fleet == nil {
		return nil
	}
	return &Guards{fleet: c.fleet.Fleet, nodes: c.fleet.Nodes}
}

// Status asks for the state of each guard, in the order of nodes, and tells which nodes did
// not answer, and why.
func (p *Guards) Status(ctx context.Context) (all []GuardStatus, unread map[string]error) {
	said, unread := p.fleet.Guards(ctx, p.nodes)
	maps.Copy(unread, p.none)
	for _, node := range slices.Sorted(maps.Keys(said)) {
		all = append(all, said[node])
	}
	return all, unread
}

// Off switches all guards off, with the user's own permissions. It names the ConfigMap that says so.
func (p *Guards) Off(ctx context.Context) (configMap string, err error) {
	_, err = write.GuardOff(ctx, p.client, p.namespace)
	return p.namespace + "/" + write.GuardConfigMap, err
}

// InConfigs asks nodes whose guard daemon has reported nothing since they booted whether their CNI
// configurations name the guard; an error says why that is unknown.
func (p *Guards) InConfigs(ctx context.Context, nodes []string) map[string]error {
	out := map[string]error{}
	v := model.Seal(p.fleet.Only(ctx, nodes, url.Values{"table": {model.CNIConfigs.String()}}))
	for _, node := range nodes {
		if err := inConfigs(v, node); err != nil {
			out[node] = err
		}
	}
	return out
}

// inConfigs tells what is said of one node; nil if its CNI configurations do not name the guard.
func inConfigs(v *model.View, node string) (err error) {
	if !v.Sees(node, model.CNIConfigs) {
		return errors.New("its CNI configurations were not read, and the guard daemon has not reported")
	}
	for c := range v.CNIConfigsOn(node) {
		switch {
		case slices.Contains(c.Plugins, "plumbline-cni"):
			return errors.New("the CNI configuration names the guard, and the guard daemon has not reported")
		case c.Error != "":
			err = fmt.Errorf("its CNI configuration %s cannot be read (%s), and the guard daemon has not reported", c.File, c.Error)
		}
	}
	return err
}

// Calls asks for the CNI calls that guards have recorded.
func (p *Guards) Calls(ctx context.Context, q CallQuestion) (all map[string][]GuardCall, unread map[string]error) {
	all, unread = p.fleet.GuardCalls(ctx, p.nodes, q)
	maps.Copy(unread, p.none)
	return all, unread
}
