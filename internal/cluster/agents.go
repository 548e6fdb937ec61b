package cluster

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/kube"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// The accounts whose tokens let one ask agents: for the state of nodes, and for lines of their logs.
const (
	readerAccount    = "plumbline-reader"
	logReaderAccount = "plumbline-log-reader"
)

// A fleet is the agents of the cluster, reached through the API server: a kubeconfig is
// all that a person needs.
type fleet struct {
	*agent.Fleet
	pods      map[string]kube.AgentPod // by node
	namespace string
	// slow asks through the API server where others are asked directly.
	slow *agent.Fleet
	ids  *identities
	// without says why agents that are there cannot be asked.
	without string
}

// gentleAtOnce is how many agents are asked at a time where one is to be easy on the API server.
const gentleAtOnce = 32

// agents finds the agents; nil if there are none, which is no fault: then only what
// Kubernetes and Calico write is judged.
func (c *Cluster) agents(ctx context.Context) (*fleet, error) {
	pods, err := c.client.Agents(ctx, "")
	if err != nil {
		return nil, err
	}
	if len(pods) == 0 {
		return nil, nil
	}
	f := &fleet{pods: byNode(pods), namespace: pods[0].Namespace, ids: c.identitiesOf(pods[0].Namespace)}
	readers := c.readers(f.namespace)
	first, err := readers.get(ctx)
	if err != nil {
		f.without = "no token for them: " + err.Error()
		first, _ = c.logReaders(f.namespace).get(ctx) // who may read only logs has one for them, and with it the time
	}
	f.Fleet = &agent.Fleet{
		Nodes: slices.Sorted(maps.Keys(f.pods)),
		Now:   func() time.Time { return first.at.Add(observe.Uptime() - first.since) },
		Open: func(ctx context.Context, node, path string, query url.Values) (io.ReadCloser, error) {
			return c.openAgent(ctx, f, readers, node, path, query)
		},
	}
	if c.o.Direct {
		f.connect(c, readers)
	}
	if c.client.Gentle {
		f.AtOnce = gentleAtOnce
	}
	return f, nil
}

// byNode gives the agent of each node. While one is replaced there are two: a ready one wins.
func byNode(pods []kube.AgentPod) map[string]kube.AgentPod {
	out := map[string]kube.AgentPod{}
	for _, p := range pods {
		if old, ok := out[p.Node]; p.Node != "" && (!ok || !old.Ready && p.Ready) {
			out[p.Node] = p
		}
	}
	return out
}

// openAgent asks the agent of a node through the API server.
func (c *Cluster) openAgent(ctx context.Context, f *fleet, readers *agentTokens, node, path string, query url.Values) (io.ReadCloser, error) {
	p, ok := f.pods[node]
	switch {
	case !ok:
		return nil, errNoAgent
	case f.without != "" && path != agent.PathLogs:
		return nil, errors.New(f.without)
	}
	if path == agent.PathLogs {
		readers = c.logReaders(f.namespace)
	}
	asked, err := readers.headers(ctx, node, http.MethodGet, path, query, nil)
	switch {
	case path == agent.PathLogs && errors.Is(err, kube.ErrForbidden):
		return nil, fmt.Errorf("logs of nodes need a right of their own, the Role plumbline-log-user (docs/rbac.md): %w", err)
	case err != nil:
		return nil, err
	}
	body, head, err := c.client.Proxy(ctx, p, path, query, asked)
	version := agent.CheckVersion(head)
	switch {
	case err != nil && version != nil && head.Get(agent.VersionHeader) != "": // another version refuses what it does not know
		return nil, version
	case err != nil:
		return nil, err
	case version != nil:
		return nil, errors.Join(version, body.Close())
	case path == agent.PathHealth:
		return body, nil
	}
	return agent.Verified(body, agent.Expected{Of: node, Path: path, Query: query, Header: asked, Key: c.keyOf(ctx, f.ids, node)}), nil
}

// keyOf reads the key with which the agent of a node signs. Where none can be known, which is reported, its answers are used for
// what is shown; verifications, without which nothing is changed, are accepted only with a key.
func (c *Cluster) keyOf(ctx context.Context, ids *identities, node string) func(fresh bool) (ed25519.PublicKey, error) {
	if _, err := ids.Identity(ctx, node, false); err != nil {
		c.unauthenticated.note(node, err)
		return nil
	}
	return agent.KeyOf(ctx, ids, node)
}

// findAgents looks for agents. A user who may not list them has none, and is told so.
func (c *Cluster) findAgents(ctx context.Context) (err error) {
	c.fleet, err = c.agents(ctx)
	if errors.Is(err, kube.ErrForbidden) {
		c.o.Notice("agents were not looked for: " + err.Error())
		return nil
	}
	if err != nil {
		c.close()
		return fmt.Errorf("list agents: %w", err)
	}
	return nil
}

// complete accounts for the nodes on which no agent runs although one should.
func (f *fleet) complete(s *model.Snapshot) {
	var none []string
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if _, ok := f.pods[n.Name]; !ok && expectsAgent(n) {
			none = append(none, n.Name)
		}
	}
	s.PutFacts(agent.Silent("no agent runs there", none...))
}

// inShort accounts for what the nodes would say, without having them say it.
func (f *fleet) inShort(ctx context.Context, s *model.Snapshot) {
	digests, silent := f.Digests(ctx)
	account := &model.Snapshot{}
	for _, node := range f.Nodes {
		d, ok := digests[node]
		if !ok {
			account.Coverage = append(account.Coverage, agent.Silent(silent[node], node).Coverage...)
			continue
		}
		for _, t := range model.FactTables() {
			c := model.Coverage{Table: t, Node: node, State: model.Complete, Rows: d.Tables[t.String()].Rows}
			why, not := d.Not[t.String()]
			if _, read := d.Tables[t.String()]; !read && !not {
				why, not = "the agent does not report it: upgrade the agents", true
			}
			if not {
				c.State, c.Reason = model.Lost, why
			}
			account.Coverage = append(account.Coverage, c)
		}
	}
	s.PutFacts(account)
	f.complete(s)
}

// expectsAgent tells whether the node is a machine with a kernel that an agent can read.
func expectsAgent(n *model.Node) bool {
	if n.OS != "" && n.OS != "linux" {
		return false
	}
	return !n.Virtual()
}

var errNoAgent = errors.New("no agent runs there")
