package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"plumbline.dev/plumbline/internal/eventlog"
	"plumbline.dev/plumbline/internal/guard"
)

// A GuardStatus is what an agent says of its node's guard.
type GuardStatus struct {
	Node   string        `json:"node"`
	Taken  time.Time     `json:"taken"`            // by the node's clock
	Report *guard.Report `json:"report,omitempty"` // nil if the guard is not installed
}

// Age is how old the keeper's report is, by the node's own clock.
func (g *GuardStatus) Age() time.Duration {
	if g.Report == nil {
		return 0
	}
	return g.Taken.Sub(g.Report.At)
}

// ErrOlder means that an agent does not know what it was asked: it came before it.
var ErrOlder = errors.New("its agent is older than the guard")

// notServed is what a server says that has no such path. An agent that is gone altogether
// is said to be so in other words.
const notServed = "404 page not found"

func older(err error) error {
	if err != nil && strings.Contains(err.Error(), notServed) {
		return ErrOlder
	}
	return err
}

// Guards asks some agents for their guards; those that did not answer are in silent, with
// the reason.
func (f *Fleet) Guards(ctx context.Context, nodes []string) (all map[string]GuardStatus, silent map[string]error) {
	return each(f, nodes, func(node string) (GuardStatus, error) {
		var g GuardStatus
		err := older(f.json(ctx, node, PathGuard, nil, &g))
		if err == nil && (g.Node != node || g.Report != nil && g.Report.Node != "" && g.Report.Node != node) {
			err = errors.New("its agent speaks of another node")
		}
		return g, err
	})
}

// A GuardCall is one line that the guard wrote into a node's flight record.
type GuardCall struct {
	Node string     `json:"node"`
	At   time.Time  `json:"at"` // by the node's clock, when it was answered
	Verb guard.Verb `json:"verb"`
	guard.Event
}

// A CallQuestion says which calls are asked for.
type CallQuestion struct {
	About string // a part of a pod's name, or of a container's ID; empty for all
	Since time.Time
}

// GuardCalls asks some agents for the newest calls that their guards saw, the oldest first.
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
			return nil, fmt.Errorf("read the flight record: %w", err)
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

// guardCall reads an entry that the guard wrote; an older agent hands out others too.
func guardCall(node string, e *eventlog.Entry) (GuardCall, bool) {
	c := GuardCall{Node: node, At: e.At, Verb: guard.Verb(e.What)}
	if e.By != "guard" || e.Of != "cni" || json.Unmarshal(e.Now, &c.Event) != nil {
		return c, false
	}
	return c, true
}

// each asks nodes side by side.
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
