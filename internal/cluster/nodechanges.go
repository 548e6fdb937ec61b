package cluster

import (
	"context"

	"plumbline.dev/plumbline/internal/agent"
)

// A NodeChange is a change of a node's state that its event log has.
type NodeChange = agent.NodeChange

// NodeChanges gives the newest entries of a node's event log, newest first.
func NodeChanges(ctx context.Context, o Options, node string, most int) ([]NodeChange, error) {
	u, err := OpenScoped(ctx, o)
	if err != nil {
		return nil, err
	}
	defer u.Close()
	if u.fleet == nil {
		return nil, ErrNoAgents
	}
	return u.fleet.Changes(ctx, node, most)
}
