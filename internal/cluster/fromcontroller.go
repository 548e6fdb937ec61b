package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/kube"
	"plumbline.dev/plumbline/internal/observe"
)

// FromController asks the controller for its last judgement. Its pods are looked for where agents are, and where there
// are none in the usual namespace: others may give any pod its labels.
//
// A namespace or node that findings are wanted about must exist: a typo must not look healthy.
func FromController(ctx context.Context, o Options, namespace, node string) (*Told, error) {
	c, err := connect(o)
	if err != nil {
		return nil, err
	}
	if err := c.exist(ctx, namespace, node); err != nil {
		return nil, err
	}
	in := kube.AgentNamespace
	agents, err := c.client.Agents(ctx, "")
	if err != nil {
		return nil, err
	}
	if len(agents) > 0 {
		in = agents[0].Namespace
	}
	pods, err := c.client.Controllers(ctx, in)
	if err != nil {
		return nil, err
	}
	if len(pods) == 0 {
		return nil, fmt.Errorf("no controller runs in namespace %s: install it (docs/controller.md), or check without --from-controller", in)
	}
	tokens := newAgentTokens(c.client, in, readerAccount)
	var errs []error
	for _, p := range pods { // one of them leads
		told, err := c.askController(ctx, tokens, p)
		if err == nil {
			return told, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

// exist refuses names that the cluster does not have.
func (c *Cluster) exist(ctx context.Context, namespace, node string) error {
	for _, of := range []struct{ flag, resource, name string }{{"-n", "namespaces", namespace}, {"--node", "nodes", node}} {
		if of.name == "" {
			continue
		}
		if _, _, err := c.client.Get(ctx, "/api/v1/"+of.resource+"/"+url.PathEscape(of.name)); errors.Is(err, observe.ErrNotThere) {
			return fmt.Errorf("%s %s: not found in %s", of.flag, of.name, of.resource)
		}
	}
	return nil
}

func (c *Cluster) askController(ctx context.Context, tokens *agentTokens, p kube.AgentPod) (*Told, error) {
	head, err := tokens.headers(ctx, agent.Controller, http.MethodGet, agent.PathFindings, nil, nil)
	if err != nil {
		return nil, err
	}
	body, err := c.client.Controller(ctx, p, agent.PathFindings, head)
	if err != nil {
		return nil, err
	}
	told, err := ReadRows(body)
	if err = errors.Join(err, body.Close()); err != nil {
		return nil, fmt.Errorf("findings of %s/%s: %w", p.Namespace, p.Name, err)
	}
	told.By = p.Namespace + "/" + p.Name
	return told, nil
}
