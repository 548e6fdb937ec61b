package agent

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"math/rand/v2"
	"net/url"
	"slices"
	"sync"
	"time"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
	"plumbline.dev/plumbline/internal/snapshotio"
)

// A Fleet is the agents of a cluster. The slowest of them holds up nobody.
type Fleet struct {
	// Open asks the agent of a node; the answer is the caller's to close.
	Open func(ctx context.Context, node, path string, query url.Values) (io.ReadCloser, error)
	// Post tells the agent of a node to change something, likewise; nil if nobody may.
	Post  func(ctx context.Context, node, path string, body []byte) (io.ReadCloser, error)
	Nodes []string         // those that have an agent
	Now   func() time.Time // by the API server's clock
	// AtOnce is how many are asked at a time, at most; 0 leaves it to how they answer.
	AtOnce int

	pace pace
}

const (
	maxJSON = 4 << 20
	// What one node may say: a node is a stranger too.
	maxBytes = 64 << 20
	maxRows  = 300_000
)

// Name is what progress calls it.
func (*Fleet) Name() string { return "agents" }

// Tables is empty: what was seen is said for each node.
func (*Fleet) Tables() []model.Table { return nil }

// Collect asks every agent for all of its tables.
func (f *Fleet) Collect(ctx context.Context, b *model.Builder) (observe.ReadInfo, error) {
	said := f.gather(ctx, f.Nodes, nil)
	b.Add(func(all *model.Snapshot) { all.PutFacts(said) })
	return observe.ReadInfo{Rows: len(f.Nodes)}, nil
}

// Reread reads again, on the nodes themselves, those of the refs that are a node's own.
func (f *Fleet) Reread(ctx context.Context, refs []model.Ref) (observe.Reread, error) {
	var l observe.Reread
	var nodes []string
	for _, r := range refs {
		if n := r.OnNode(); n != "" {
			nodes = append(nodes, n)
			l.Note(time.Time{}, r)
		}
	}
	slices.Sort(nodes)
	l.Rows = *f.gather(ctx, slices.Compact(nodes), url.Values{"fresh": {"1"}})
	return l, ctx.Err()
}

// About asks the agents of some nodes about one pod or one address.
func (f *Fleet) About(ctx context.Context, nodes []string, query url.Values) *model.Snapshot {
	query = maps.Clone(query)
	query.Set("fresh", "1")
	return f.gather(ctx, nodes, query)
}

// gather asks some agents for tables; what they say stands in the order of the nodes.
func (f *Fleet) gather(ctx context.Context, nodes []string, query url.Values) *model.Snapshot {
	answers := make([]*model.Snapshot, len(nodes))
	f.each(nodes, func(i int) { answers[i] = f.ask(ctx, nodes[i], query) })
	out := &model.Snapshot{NodeState: map[string]*model.NodeState{}}
	for _, a := range answers {
		out.Coverage = append(out.Coverage, a.Coverage...)
		maps.Copy(out.NodeState, a.NodeState)
	}
	return out
}

// Digests asks every agent how it is; an agent that does not answer is in silent, with
// the reason.
func (f *Fleet) Digests(ctx context.Context) (all map[string]Digest, silent map[string]string) {
	all, silent = map[string]Digest{}, map[string]string{}
	var mu sync.Mutex
	f.each(f.Nodes, func(i int) {
		var d Digest
		err := f.json(ctx, f.Nodes[i], PathDigest, nil, &d)
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			silent[f.Nodes[i]] = err.Error()
			return
		}
		all[f.Nodes[i]] = d
	})
	return all, silent
}

func (f *Fleet) json(ctx context.Context, node, path string, query url.Values, into any) error {
	var raw json.RawMessage // what is cut off leaves nothing behind for a second turn
	err := f.turn(ctx, node, func(ctx context.Context) error {
		body, err := f.Open(ctx, node, path, query)
		if err != nil {
			return err
		}
		return errors.Join(json.NewDecoder(io.LimitReader(body, maxJSON)).Decode(&raw), body.Close())
	})
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}

// each does something for every node. In no order: nodes that fail together often have
// names that follow each other, and whether it is them is told by the others.
func (*Fleet) each(nodes []string, do func(i int)) {
	var wg sync.WaitGroup
	for _, i := range rand.Perm(len(nodes)) {
		wg.Go(func() { do(i) })
	}
	wg.Wait()
}

// ask gives a node's facts, or the account of why there are none.
func (f *Fleet) ask(ctx context.Context, node string, query url.Values) *model.Snapshot {
	var s *model.Snapshot
	err := f.turn(ctx, node, func(ctx context.Context) (err error) {
		s, err = f.read(ctx, node, query)
		return err
	})
	if err != nil {
		return Silent(err.Error(), node)
	}
	return s
}

func (f *Fleet) read(ctx context.Context, node string, query url.Values) (*model.Snapshot, error) {
	body, err := f.Open(ctx, node, PathTables, query)
	if err != nil {
		return nil, err
	}
	s, err := snapshotio.ReadBundleOf(body, maxBytes, maxRows)
	if err = errors.Join(err, body.Close()); err != nil {
		return nil, err
	}
	return Own(s, node, f.Now())
}

// Own takes from an agent's answer what it says of its own node, and nothing else: a
// node is believed about itself only. Its times are counted back from now.
func Own(s *model.Snapshot, node string, now time.Time) (*model.Snapshot, error) {
	out := &model.Snapshot{}
	for _, c := range s.Coverage {
		if c.Node == node && c.Table.OfNode() {
			out.Coverage = append(out.Coverage, c)
		}
	}
	for other := range s.NodeState {
		if other != node {
			return nil, errors.New("its agent speaks of another node")
		}
	}
	if len(out.Coverage) == 0 {
		return nil, errors.New("its agent says nothing of its node")
	}
	if f := s.NodeState[node]; f != nil { // an agent that has just begun has none yet
		f.Shift(model.At(now).Sub(s.Meta.Taken))
		out.NodeState = map[string]*model.NodeState{node: f}
	}
	return out, nil
}

// Silent is the account of nodes that were not seen.
func Silent(why string, nodes ...string) *model.Snapshot {
	s := &model.Snapshot{}
	for _, node := range nodes {
		for _, t := range model.FactTables() {
			s.Coverage = append(s.Coverage, model.Coverage{Table: t, Node: node, State: model.Lost, Reason: why})
		}
	}
	return s
}
