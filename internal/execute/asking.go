package execute

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// namesFor is how long a list of the nodes is used. A node that joins meanwhile has no pods from
// before, and what a new pod uses has a record of its own; a machine whose Node object was gone
// still counts as one without.
const namesFor = 3 * time.Minute

// nodeNames lists the nodes, once in a while: a plan may have tens of thousands of steps.
func (x *Executor) nodeNames(ctx context.Context) ([]string, error) {
	if now := x.Now(); len(x.listed) > 0 && now.Sub(x.listedAt) < namesFor && !now.Before(x.listedAt) {
		return x.listed, nil
	}
	at := x.Now()
	all, err := x.Nodes.Names(ctx)
	switch {
	case err != nil:
		return nil, fmt.Errorf("list nodes: %w", err)
	case len(all) == 0:
		return nil, fmt.Errorf("list nodes: the cluster has none")
	}
	x.listed, x.listedAt, x.exists = all, at, make(map[string]bool, len(all))
	for _, n := range all {
		x.exists[n] = true
	}
	return all, nil
}

// askEach has some nodes verify, as many at a time as Parallel allows, and returns the answers in
// the order of the nodes.
func (x *Executor) askEach(ctx context.Context, nodes []string, ask func(ctx context.Context, node string) answer) []answer {
	out := make([]answer, len(nodes))
	x.asks += len(nodes)
	if x.Parallel <= 1 {
		for i, node := range nodes {
			out[i] = ask(ctx, node)
		}
		return out
	}
	var wg sync.WaitGroup
	places := make(chan struct{}, x.Parallel)
	for i, node := range nodes {
		places <- struct{}{}
		wg.Go(func() {
			defer func() { <-places }()
			out[i] = ask(ctx, node)
		})
	}
	wg.Wait()
	return out
}
