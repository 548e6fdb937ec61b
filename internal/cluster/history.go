package cluster

import (
	"context"

	"plumbline.dev/plumbline/internal/journal"
	"plumbline.dev/plumbline/internal/repair"
)

// An Applied is a plan that was applied from this machine, and what came of it.
type Applied = journal.Summary

// History gives the plans that were applied to the cluster from this machine, the newest
// first.
func (c *Cluster) History(ctx context.Context) ([]Applied, error) {
	guid, err := c.GUID(ctx)
	if err != nil {
		return nil, err
	}
	return journal.List(c.o.StateDir, guid)
}

// HistoryOf gives a plan that was applied from this machine, and the entries of its journal.
// With an error, the plan and the entries are what could be read; the plan may be nil.
func (c *Cluster) HistoryOf(ctx context.Context, id string) (*repair.Plan, []repair.Entry, error) {
	guid, err := c.GUID(ctx)
	if err != nil {
		return nil, nil, err
	}
	return journal.Read(c.o.StateDir, guid, id)
}
