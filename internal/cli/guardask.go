package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/kube"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

var errNobodyToAsk = errors.New("no agents run in this cluster, so that nobody can be asked about guards: docs/agent.md tells how to install them")

// A guardPost is who can be asked about guards, and who cannot.
type guardPost struct {
	fleet *agent.Fleet
	nodes []string
	none  map[string]error // nodes without an agent, or all if that is not known
}

// guardPost finds the agents of the cluster, or of one node. Calico's datastore is not
// needed for it.
func (g *global) guardPost(ctx context.Context, node string) (*guardPost, error) {
	if g.bundle != "" {
		return nil, errors.New("a bundle holds nothing of guards: ask the cluster")
	}
	client, err := kube.Connect(g.kube)
	if err != nil {
		return nil, err
	}
	c := &cluster{client: client, close: func() {}}
	fleet, err := c.agents(ctx)
	switch {
	case err != nil:
		return nil, fmt.Errorf("look for agents: %w", err)
	case fleet == nil:
		return nil, errNobodyToAsk
	}
	p := &guardPost{fleet: fleet.Fleet, nodes: fleet.Nodes, none: map[string]error{}}
	if node != "" {
		if _, there := fleet.pods[node]; !there {
			return nil, fmt.Errorf("node %s: no agent runs there", node)
		}
		p.nodes = []string{node}
		return p, nil
	}
	s := observe.Snapshot(ctx, func(string, int, bool) {}, kube.Nodes{Client: client})
	if c := s.Coverage; len(c) > 0 && c[0].State != model.Complete {
		fmt.Fprintf(g.Stderr, "nodes without an agent are not known: %s\n", line(c[0].Reason))
	}
	for i := range s.Nodes {
		if _, there := fleet.pods[s.Nodes[i].Name]; !there && expectsAgent(&s.Nodes[i]) {
			p.none[s.Nodes[i].Name] = errors.New("no agent runs there")
		}
	}
	return p, ctx.Err()
}

// Guards are what the nodes say of their guards.
type guards struct {
	said   []agent.GuardStatus // by node
	unseen map[string]error
}

func (p *guardPost) ask(ctx context.Context) guards {
	all, silent := p.fleet.Guards(ctx, p.nodes)
	maps.Copy(silent, p.none)
	out := guards{unseen: silent}
	for _, node := range sortedKeys(all) {
		out.said = append(out.said, all[node])
	}
	return out
}

// unseenNodes says for each reason which nodes were not seen.
func unseenNodes(unseen map[string]error) []string {
	by := map[string][]string{}
	for node, err := range unseen {
		by[err.Error()] = append(by[err.Error()], node)
	}
	var out []string
	for _, why := range sortedKeys(by) {
		out = append(out, fmt.Sprintf("%s: %s", fewOf(by[why]), why))
	}
	slices.Sort(out)
	return out
}

// An Unseen is a node that did not say anything, and why.
type Unseen struct {
	Node string `json:"node"`
	Why  string `json:"why"`
}

func unseenList(unseen map[string]error) []Unseen {
	out := []Unseen{}
	for _, node := range sortedKeys(unseen) {
		out = append(out, Unseen{node, unseen[node].Error()})
	}
	return out
}

// gaps is the exit code for what was not seen.
func gaps(unseen map[string]error) error {
	if len(unseen) > 0 {
		return exit(exitGaps)
	}
	return nil
}

// notSeenLines prints who did not say anything.
func (g *global) notSeenLines(unseen map[string]error) {
	for _, l := range unseenNodes(unseen) {
		printLines(g.Stdout, 0, labelled("Not seen: ", line(l), g.width())...)
	}
}

// podNamed parts the name of a pod; without a namespace it is the flag's, else the
// kubeconfig's.
func (g *global) podNamed(name, namespace string) (ns, pod string) {
	if ns, pod, ok := strings.Cut(name, "/"); ok {
		return ns, pod
	}
	if namespace == "" {
		namespace = kube.Namespace(g.kube)
	}
	return namespace, name
}
