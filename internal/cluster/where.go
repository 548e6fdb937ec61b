package cluster

import (
	"context"
	"errors"
	"net/url"

	"plumbline.dev/plumbline/internal/kube"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// whereTables show where interfaces, network namespaces, sandboxes, containers, processes and
// mounts are.
var whereTables = []model.Table{model.Links, model.Attachments, model.Sandboxes, model.Containers, model.Processes, model.CNIResults, model.Mounts}

// Where reads the nodes, and from all agents where interfaces, sandboxes, processes and mounts are.
func Where(ctx context.Context, o Options) (*model.View, error) {
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
	query := url.Values{}
	for _, t := range whereTables {
		query.Add("table", t.String())
	}
	s := observe.Snapshot(ctx, c.o.Progress, kube.Nodes{Client: c.client})
	s.PutFacts(c.fleet.Only(ctx, query))
	c.fleet.complete(s)
	return model.Seal(s), ctx.Err()
}
