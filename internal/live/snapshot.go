package live

import (
	"maps"
	"slices"

	"plumbline.dev/plumbline/internal/model"
)

// snapshot puts together what was found, with the account of how completely it was seen.
func (a *around) snapshot(now model.Time, facts map[string]*model.NodeState) *model.Snapshot {
	s := a.s
	out := &model.Snapshot{
		Meta: s.meta, Coverage: slices.Clone(s.coverage),
		Info: s.few.Info, Collector: s.few.Collector, Components: slices.Clone(s.few.Components), Pools: slices.Clone(s.few.Pools), Reservations: slices.Clone(s.few.Reservations),
		Pods: a.pods.copied(), Nodes: a.nodes.copied(), Services: a.services.copied(), VMs: a.vms.copied(), Events: a.events.copied(),
		Blocks: a.blocks.copied(), Handles: a.handles.copied(), Affinities: a.affinities.copied(), Endpoints: a.endpoints.copied(), Hosts: a.hosts.copied(),
	}
	out.Meta.Taken = now
	for node := range a.facts {
		out.Coverage = append(out.Coverage, s.onNode[node]...)
		if f := facts[node]; f != nil {
			if out.NodeState == nil {
				out.NodeState = map[string]*model.NodeState{}
			}
			out.NodeState[node] = f
		}
	}
	if len(out.Coverage) == len(s.coverage) { // some node was asked, if none of these
		for _, c := range s.onNode {
			out.Coverage = append(out.Coverage, c...)
			break
		}
	}
	return out
}

// Whole gives a snapshot of all rows, which is the caller's own but for the facts: those
// are sealed by nobody else.
func (s *Store) Whole(now model.Time) *model.Snapshot {
	a := s.around()
	for _, p := range s.pods {
		a.pods.rows = append(a.pods.rows, p)
	}
	for _, n := range s.nodes {
		a.nodes.rows = append(a.nodes.rows, n)
	}
	for _, h := range s.hosts {
		a.hosts.rows = append(a.hosts.rows, h)
	}
	for _, v := range s.services {
		a.services.rows = append(a.services.rows, v)
	}
	for _, m := range s.vms {
		a.vms.rows = append(a.vms.rows, m)
	}
	for k := range s.events.one {
		for e := range s.events.of(k) {
			a.events.rows = append(a.events.rows, e)
		}
	}
	for _, b := range s.blocks {
		a.blocks.rows = append(a.blocks.rows, b.Block)
	}
	for _, h := range s.handles {
		a.handles.rows = append(a.handles.rows, h)
	}
	for _, x := range s.affinities {
		a.affinities.rows = append(a.affinities.rows, x)
	}
	for _, e := range s.endpoints {
		a.endpoints.rows = append(a.endpoints.rows, e)
	}
	for n := range s.onNode {
		a.facts[n] = struct{}{}
	}
	return a.snapshot(now, s.facts)
}

// Use is how much pools and nodes have in all.
func (s *Store) Use() (pools, nodes map[string]model.Usage) { return s.poolUse, s.nodeUse }

// Shows tells whether any block, and any pod, shows what Calico does here. Where its
// configuration says it, that is not asked.
func (s *Store) Shows() (blocks, pods bool) {
	if len(s.few.Info) > 0 && s.few.Info[0].IPAM != "" && s.few.Info[0].Networking != "" {
		return false, false
	}
	return s.ledgered > 0, s.written > 0
}

// Grace is that of Calico's collector, in seconds.
func (s *Store) Grace(unknown int64) int64 {
	if len(s.few.Collector) == 0 {
		return unknown
	}
	return s.few.Collector[0].LeakGracePeriod
}

// Few gives the tables of few rows, to read.
func (s *Store) Few() model.Snapshot { return s.few }

// Nodes gives the rows of nodes, which are the caller's own.
func (s *Store) Nodes() []model.Node {
	out := make([]model.Node, 0, len(s.nodes))
	for _, n := range s.nodes {
		out = append(out, *n)
	}
	return out
}

// GUID is the cluster's.
func (s *Store) GUID() string { return s.meta.GUID }

// Gaps gives what was not seen in full.
func (s *Store) Gaps() []model.Coverage {
	var out []model.Coverage
	add := func(cs []model.Coverage) {
		for _, c := range cs {
			if !c.State.Seen() {
				out = append(out, c)
			}
		}
	}
	add(s.coverage)
	for _, node := range slices.Sorted(maps.Keys(s.onNode)) {
		add(s.onNode[node])
	}
	return out
}

// Small gives a snapshot of nothing but what is in every one.
func (s *Store) Small(now model.Time) *model.Snapshot { return s.around().snapshot(now, nil) }

// Aside is Around for who judges elsewhere, with every detector: the rows are its own, and
// all of the nodes' facts are there.
func (s *Store) Aside(subjects map[model.Subject]struct{}, poison bool, now model.Time) *model.Snapshot {
	a := s.around()
	for sub := range subjects {
		a.subject(sub)
		if p := s.pods[split(sub.Ref.Name)]; sub.Table == model.Pods && p != nil {
			a.nodeWhole(p.Node)
			for _, ip := range p.Claims() {
				a.address(ip)
			}
		}
		if sub.Table == model.Nodes {
			a.nodeWhole(sub.Ref.Name)
		}
	}
	if poison {
		a.fallen()
	}
	facts := make(map[string]*model.NodeState, len(a.facts))
	for node := range a.facts {
		if f := s.facts[node]; f != nil {
			facts[node] = whole(f)
		}
	}
	return a.snapshot(now, facts)
}
