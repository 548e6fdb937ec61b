package cluster

import (
	"context"
	"net/url"
	"time"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// awaitNodesFor is how long a first judgement waits for the agents: those that have not answered by then
// are said to be silent.
const awaitNodesFor = 20 * time.Second

// watchNodes watches the agents until ctx ends.
func (f *following) watchNodes(ctx context.Context) {
	f.nodes = f.streams()
	f.nodes.Now = f.serverTime
	f.nodes.Ask = f.askAround
	f.keep = func(nodes []string) { f.nodes.Keep(ctx, nodes) }
	if f.fleet != nil {
		f.src.Collectors = f.src.Collectors[1:] // they are not read as well
	}
	f.keepNodes()
}

// serverTime is the API server's time as it was last known, or ours as long as it is unknown.
func (f *following) serverTime() time.Time {
	if fleet := f.timed.Load(); fleet != nil {
		return fleet.Now()
	}
	return time.Now() //nolint:forbidigo // there is no other
}

// askAround asks an agent through the API server, with few others at once.
func (f *following) askAround(ctx context.Context, node string) *model.Snapshot {
	fleet := f.found.Load()
	if fleet == nil || fleet.slow == nil {
		return agent.Silent("no agent runs there", node)
	}
	return fleet.slow.Only(ctx, []string{node}, url.Values{"ways": {"sum"}})
}

// keepNodes watches the agents that were found last, and offers their rows row by row where sums differ.
func (f *following) keepNodes() {
	f.found.Store(f.fleet)
	if f.fleet != nil && f.fleet.without == "" { // without a token the API server has not told its time
		f.timed.Store(f.fleet)
	}
	f.restated = true // time alone makes rows old
	if f.fleet == nil {
		f.keep(nil)
		f.src.Ways = nil
		return
	}
	f.keep(f.fleet.Nodes)
	f.src.Ways = f.fleet.Ways
}

// awaitNodes waits until all agents have answered, or until that takes too long.
func (f *following) awaitNodes(ctx context.Context) {
	for end := time.Now().Add(awaitNodesFor); f.nodes.Waiting() > 0 && time.Now().Before(end); { //nolint:forbidigo // how long to wait
		if observe.Wait(ctx, shortestPause) != nil {
			return
		}
	}
}

func (f *following) countAgents() *AgentCount {
	if f.nodes == nil {
		return nil
	}
	c := &AgentCount{}
	c.Watched, c.Asked, c.Silent, c.Lag = f.nodes.Count()
	return c
}

// heardNodes notes that a node has changed.
func (f *following) heardNodes() {
	if !f.dirty || f.changed.IsZero() {
		f.changed = time.Now() //nolint:forbidigo // when it was received
	}
	f.dirty, f.restated = true, true
}
