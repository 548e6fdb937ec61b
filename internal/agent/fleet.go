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
	"strconv"
	"sync"
	"time"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
	"plumbline.dev/plumbline/internal/snapshotio"
)

// A Fleet is the agents of a cluster. A slow agent does not delay the others.
type Fleet struct {
	// Open sends a GET to the agent of a node; the caller closes the answer.
	Open func(ctx context.Context, node, path string, query url.Values) (io.ReadCloser, error)
	// Post sends a change to the agent of a node; nil if changes are not enabled.
	Post  func(ctx context.Context, node, path string, body []byte) (io.ReadCloser, error)
	Nodes []string         // nodes that have an agent
	Now   func() time.Time // the API server's clock
	// Identities has the keys that verifications are signed with; without it none is accepted.
	Identities Identities
	// AtOnce is the limit of concurrent requests; 0 adapts it to how fast agents answer.
	AtOnce int

	pace pace
}

const (
	maxJSON = 4 << 20
	// Limits of one node's answer: nodes are not trusted. maxWeight bounds the memory that it takes
	// (snapshotio.Weight), and is checked before anything is decoded.
	maxBytes  = 64 << 20
	maxRows   = 300_000
	maxWeight = 64 << 20
)

// Name is the name in progress output.
func (*Fleet) Name() string { return "agents" }

// Tables is empty: coverage is reported per node.
func (*Fleet) Tables() []model.Table { return nil }

// Collect reads all tables of every agent.
func (f *Fleet) Collect(ctx context.Context, b *model.Builder) (observe.ReadInfo, error) {
	said := f.gather(ctx, f.Nodes, nil)
	b.Add(func(all *model.Snapshot) { all.PutFacts(said) })
	return observe.ReadInfo{Rows: len(f.Nodes)}, nil
}

// Summing is the Fleet as a collector that reads ways to other nodes as sums: see Ways.
func (f *Fleet) Summing() observe.Collector { return summing{f} }

type summing struct{ *Fleet }

// Collect reads all tables of every agent, and of ways to other nodes only the sums.
func (s summing) Collect(ctx context.Context, b *model.Builder) (observe.ReadInfo, error) {
	said := s.gather(ctx, s.Nodes, url.Values{"ways": {"sum"}})
	b.Add(func(all *model.Snapshot) { all.PutFacts(said) })
	return observe.ReadInfo{Rows: len(s.Nodes)}, nil
}

// Ways reads the ways of some buckets of some nodes row by row, and puts them into the snapshot. What
// cannot be read stays as it is.
func (f *Fleet) Ways(ctx context.Context, s *model.Snapshot, open map[string][]int) {
	tables := []model.Table{model.Links, model.Routes, model.Neighbours, model.Machines}
	nodes := slices.Sorted(maps.Keys(open))
	answers := make([]*model.Snapshot, len(nodes))
	f.each(nodes, func(i int) {
		q := url.Values{"ways": {"sum"}}
		for _, t := range tables {
			q.Add("table", t.String())
		}
		for _, b := range open[nodes[i]] {
			q.Add("open", strconv.Itoa(b))
		}
		answers[i] = f.ask(ctx, nodes[i], q)
	})
	for i, a := range answers {
		got, has := a.NodeState[nodes[i]], s.NodeState[nodes[i]]
		complete := !slices.ContainsFunc(a.Coverage, func(c model.Coverage) bool { return slices.Contains(tables, c.Table) && !c.State.Seen() })
		if got != nil && has != nil && complete {
			own := *has // what it was is shared with whoever keeps the rows
			own.Take(got, tables...)
			s.NodeState[nodes[i]] = &own
		}
	}
}

// Reread rereads, on the nodes themselves, those of the refs that belong to a node.
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
	fresh := url.Values{"fresh": {"1"}}
	maps.Copy(fresh, query)
	return f.gather(ctx, nodes, fresh)
}

// Only reads some tables of the agents of some nodes, as they are kept there.
func (f *Fleet) Only(ctx context.Context, nodes []string, query url.Values) *model.Snapshot {
	return f.gather(ctx, nodes, query)
}

// gather reads tables from some agents; the answers are in the order of the nodes.
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

// Digests asks every agent for its digest; silent has the agents that did not answer, with
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
	var raw json.RawMessage // an answer that is cut off leaves nothing behind for the second attempt
	err := f.turn(ctx, node, func(ctx context.Context) error {
		body, err := f.Open(ctx, node, path, query)
		if err != nil {
			return older(err)
		}
		return errors.Join(json.NewDecoder(io.LimitReader(body, maxJSON)).Decode(&raw), body.Close())
	})
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}

// each calls do for every node, in random order: nodes that fail together often have
// consecutive names, and only answers of other nodes show whether the failure is theirs.
func (*Fleet) each(nodes []string, do func(i int)) {
	var wg sync.WaitGroup
	for _, i := range rand.Perm(len(nodes)) {
		wg.Go(func() { do(i) })
	}
	wg.Wait()
}

// ask returns the state of a node, or coverage that says why there is none.
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
	asked := f.Now()
	body, err := f.Open(ctx, node, PathTables, query)
	if err != nil {
		return nil, older(err)
	}
	s, err := snapshotio.ReadBundleOf(body, snapshotio.Limit{Bytes: maxBytes, Rows: maxRows, Weight: maxWeight})
	switch err = errors.Join(err, body.Close()); {
	case errors.Is(err, snapshotio.ErrOlder):
		return nil, ErrOlder
	case errors.Is(err, snapshotio.ErrNewer):
		return nil, ErrNewer
	case err != nil:
		return nil, err
	}
	out, err := Own(s, node, asked, f.Now())
	if err == nil && !query.Has("table") {
		Unreported(out, node, "the agent does not report it: upgrade the agents")
	}
	return out, err
}

// Unreported says of the tables of a node that an answer does not mention that they were not read.
func Unreported(s *model.Snapshot, node, why string) {
	for _, t := range model.FactTables() {
		if !slices.ContainsFunc(s.Coverage, func(c model.Coverage) bool { return c.Table == t && c.Node == node }) {
			s.Coverage = append(s.Coverage, model.Coverage{Table: t, Node: node, State: model.Lost, Reason: why})
		}
	}
}

// Own takes from an agent's answer what concerns its own node, and nothing else: an agent
// is trusted about its own node only. Times are converted to the clock of now.
func Own(s *model.Snapshot, node string, asked, now time.Time) (*model.Snapshot, error) {
	out := &model.Snapshot{}
	for _, c := range s.Coverage {
		if c.Node == node && c.Table.OfNode() {
			out.Coverage = append(out.Coverage, c)
		}
	}
	for other := range s.NodeState {
		if other != node {
			return nil, errors.New("the agent reported another node")
		}
	}
	if len(out.Coverage) == 0 {
		return nil, errors.New("the agent reported nothing about its node")
	}
	if f := s.NodeState[node]; f != nil { // an agent that has just started has none yet
		f.Shift(model.At(now).Sub(s.Meta.Taken))
		for i := range f.Machines {
			f.Machines[i].Ahead = int64(Ahead(s.Meta.Taken.Time(), asked, now).Seconds())
		}
		out.NodeState = map[string]*model.NodeState{node: f}
	}
	return out, nil
}

// Silent returns coverage for nodes that could not be read.
func Silent(why string, nodes ...string) *model.Snapshot {
	s := &model.Snapshot{}
	for _, node := range nodes {
		for _, t := range model.FactTables() {
			s.Coverage = append(s.Coverage, model.Coverage{Table: t, Node: node, State: model.Lost, Reason: why})
		}
	}
	return s
}
