package cluster

import (
	"context"
	"errors"
	"net/url"

	"plumbline.dev/plumbline/internal/kube"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// Where reads the nodes, and asks all agents where something is. Agents that do not know how to
// look for it send whole tables.
func Where(ctx context.Context, o Options, sought model.Sought) (*model.View, error) {
	c, err := connect(o)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if err := c.find(ctx); err != nil {
		return nil, err
	}
	if c.fleet == nil {
		return nil, errors.New("no agents are installed: only they see the nodes (docs/agent.md)")
	}
	query := url.Values{"of": {sought.Of}, "name": {sought.Name}}
	for _, t := range sought.Tables() {
		query.Add("table", t.String())
	}
	s := observe.Snapshot(ctx, c.o.Progress, kube.Nodes{Client: c.client})
	s.PutFacts(c.fleet.Only(ctx, c.fleet.Nodes, query))
	c.fleet.complete(s)
	return model.Seal(s), ctx.Err()
}
