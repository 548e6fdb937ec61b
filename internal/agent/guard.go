package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"

	"plumbline.dev/plumbline/internal/eventlog"
	"plumbline.dev/plumbline/internal/guard"
)

// A GuardStatus is an agent's answer about its node's guard.
type GuardStatus struct {
	Node   string        `json:"node"`             // of the agent
	Taken  time.Time     `json:"taken"`            // by the node's clock
	Report *guard.Report `json:"report,omitempty"` // nil if the guard is not installed
}

// Age is the age of the guard daemon's report, by the node's own clock.
func (g *GuardStatus) Age() time.Duration {
	if g.Report == nil {
		return 0
	}
	return g.Taken.Sub(g.Report.At)
}

// Guards asks some agents for the status of their guards; silent has those that did not
// answer, with the reason.
func (f *Fleet) Guards(ctx context.Context, nodes []string) (all map[string]GuardStatus, silent map[string]error) {
	return each(f, nodes, func(node string) (GuardStatus, error) {
		var g GuardStatus
		err := f.json(ctx, node, PathGuard, nil, &g)
		if err == nil && (g.Node != node || g.Report != nil && g.Report.Node != "" && g.Report.Node != node) {
			err = errors.New("the agent reported another node")
		}
		return g, err
	})
}

// A GuardCall is one entry of the guard in a node's event log.
type GuardCall struct {
	Node string     `json:"node"` // of the agent
	At   time.Time  `json:"at"`   // when it was answered, by the node's clock
	Verb guard.Verb `json:"verb"`
	guard.Event
}

// A CallQuestion selects calls.
type CallQuestion struct {
	About string // part of a pod's name or of a container ID; empty for all
	Since time.Time
}

// GuardCalls asks some agents for the newest calls that their guards handled, oldest first.
func (f *Fleet) GuardCalls(ctx context.Context, nodes []string, q CallQuestion) (all map[string][]GuardCall, silent map[string]error) {
	query := url.Values{"by": {"guard"}}
	if q.About != "" {
		query.Set("about", q.About)
	}
	if !q.Since.IsZero() {
		query.Set("since", q.Since.UTC().Format(time.RFC3339Nano))
	}
	return each(f, nodes, func(node string) ([]GuardCall, error) {
		var entries []eventlog.Entry
		if err := f.json(ctx, node, PathEvents, query, &entries); err != nil {
			return nil, fmt.Errorf("read the event log: %w", err)
		}
		var out []GuardCall
		for i := range entries {
			if c, ok := guardCall(node, &entries[i]); ok && c.At.After(q.Since) {
				out = append(out, c)
			}
		}
		return out, nil
	})
}

// guardCall reads an entry of the guard.
func guardCall(node string, e *eventlog.Entry) (GuardCall, bool) {
	c := GuardCall{Node: node, At: e.At, Verb: guard.Verb(e.What)}
	if e.By != "guard" || e.Of != "cni" || json.Unmarshal(e.Now, &c.Event) != nil {
		return c, false
	}
	return c, true
}

// each asks nodes concurrently.
func each[T any](f *Fleet, nodes []string, ask func(node string) (T, error)) (all map[string]T, silent map[string]error) {
	all, silent = map[string]T{}, map[string]error{}
	var mu sync.Mutex
	f.each(nodes, func(i int) {
		v, err := ask(nodes[i])
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			silent[nodes[i]] = err
			return
		}
		all[nodes[i]] = v
	})
	return all, silent
}
