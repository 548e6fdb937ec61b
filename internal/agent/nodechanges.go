package agent

import (
	"context"
	"fmt"
	"time"

	"plumbline.dev/plumbline/internal/eventlog"
)

// A NodeChange is a change of a node's state, as its agent or its guard recorded it.
type NodeChange struct {
	At   time.Time // by the node's clock
	What string    // new, changed or gone; of a CNI call its command
	Of   string    // table, or cni
	Name string
	Who  string // by whom or why, as the end of a sentence; empty: not told
	Note string // error
}

// Changes asks an agent for the newest entries of its node's event log, newest first.
func (f *Fleet) Changes(ctx context.Context, node string, most int) ([]NodeChange, error) {
	var entries []eventlog.Entry
	if err := f.json(ctx, node, PathEvents, nil, &entries); err != nil {
		return nil, fmt.Errorf("read the event log: %w", err)
	}
	var out []NodeChange
	for i := len(entries) - 1; i >= 0 && len(out) < most; i-- {
		e := &entries[i]
		c := NodeChange{At: e.At, What: e.What, Of: e.Of, Name: e.Name, Note: e.Note}
		if e.Port != 0 || e.Writer != "" {
			c.Who = e.Who()
		}
		out = append(out, c)
	}
	return out, nil
}
