package live

import (
	"reflect"
	"slices"

	"plumbline.dev/plumbline/internal/model"
)

// Replace takes tables that were read again as a whole, since nobody tells their changes.
// Of one that could not be read only that is taken: its rows stay.
func (s *Store) Replace(read *model.Snapshot, tables ...model.Table) error {
	for _, c := range read.Coverage {
		if c.Node != "" || !slices.Contains(tables, c.Table) {
			continue
		}
		s.cover(c)
		if !c.State.Seen() {
			continue
		}
		if err := s.replace(read, c.Table); err != nil {
			return err
		}
	}
	return nil
}

// cover: what a detector needs was not seen, or is seen again.
func (s *Store) cover(c model.Coverage) {
	i := slices.IndexFunc(s.coverage, func(o model.Coverage) bool { return o.Table == c.Table })
	if i < 0 {
		s.coverage = append(s.coverage, c)
		s.anew = true
		return
	}
	s.anew = s.anew || s.coverage[i].State.Seen() != c.State.Seen()
	s.coverage[i] = c
}

func (s *Store) replace(read *model.Snapshot, t model.Table) error {
	switch t {
	case model.Events:
		s.replaceEvents(read.Events)
	case model.VMs:
		return replace(s.vms, read.VMs, func(m *model.VM) name { return name{m.Namespace, m.Name} }, (*model.VM).Ref, s.putVM)
	case model.Services:
		return replace(s.services, read.Services, func(v *model.Service) name { return name{v.Namespace, v.Name} }, (*model.Service).Ref, s.putService)
	case model.Nodes:
		return replace(s.nodes, read.Nodes, func(n *model.Node) string { return n.Name }, (*model.Node).Ref, s.putNode)
	case model.Hosts:
		return replace(s.hosts, read.Hosts, func(h *model.Host) string { return h.Name }, (*model.Host).Ref, s.putHost)
	case model.Pods:
		return replace(s.pods, read.Pods, func(p *model.Pod) name { return name{p.Namespace, p.Name} }, (*model.Pod).Ref, s.putPod)
	case model.Handles:
		return replace(s.handles, read.Handles, func(h *model.Handle) string { return h.ID }, (*model.Handle).Ref, s.putHandle)
	case model.Affinities:
		return replace(s.affinities, read.Affinities, func(a *model.Affinity) string { return a.Ref().Name }, (*model.Affinity).Ref, s.putAffinity)
	case model.Endpoints:
		return replace(s.endpoints, read.Endpoints, func(e *model.Endpoint) name { return name{e.Namespace, e.Name} }, (*model.Endpoint).Ref, s.putEndpoint)
	case model.Blocks:
		return s.replaceBlocks(read.Blocks)
	case model.Pools:
		if !reflect.DeepEqual(s.few.Pools, read.Pools) {
			s.few.Pools = read.Pools
			return s.putPool(model.Ref{}, nil)
		}
	case model.Components:
		if !reflect.DeepEqual(s.few.Components, read.Components) {
			s.few.Components = read.Components
			s.wake(model.Components, model.KindCluster, "cluster")
		}
	case model.Cluster:
		s.anew = s.anew || !reflect.DeepEqual(s.few.Info, read.Info)
		s.few.Info = read.Info
	case model.Collector:
		s.anew = s.anew || !reflect.DeepEqual(s.few.Collector, read.Collector)
		s.few.Collector = read.Collector
	case model.Reservations:
		s.few.Reservations = read.Reservations
	default: // column groups, and what is a node's own
	}
	return nil
}

func replace[K comparable, T any](have map[K]*T, read []T, key func(*T) K, ref func(*T) model.Ref, put func(model.Ref, *T) error) error {
	there := make(map[K]bool, len(read))
	for i := range read {
		k := key(&read[i])
		there[k] = true
		if old := have[k]; old != nil && reflect.DeepEqual(*old, read[i]) {
			continue
		}
		if err := put(ref(&read[i]), &read[i]); err != nil {
			return err
		}
	}
	var gone []*T
	for k, row := range have {
		if !there[k] {
			gone = append(gone, row)
		}
	}
	for _, row := range gone {
		if err := put(ref(row), nil); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) replaceBlocks(read []model.Block) error {
	have := make(map[string]*model.Block, len(s.blocks))
	for _, b := range s.blocks {
		have[b.Ref().Name] = b.Block
	}
	return replace(have, read, func(b *model.Block) string { return b.Ref().Name }, (*model.Block).Ref, s.putBlock)
}

// replaceEvents: they have no name of their own; those of one pod are replaced together.
func (s *Store) replaceEvents(read []model.Event) {
	now := newMany[name, *model.Event]()
	for i := range read {
		now.add(name{read[i].Namespace, read[i].Pod}, &read[i])
	}
	was := s.events
	s.events = now
	for _, side := range []*many[name, *model.Event]{&was, &now} {
		for k := range side.one {
			if !sameEvents(&was, &now, k) {
				s.wake(model.Events, model.KindPod, k.String())
				s.wake(model.Pods, model.KindPod, k.String())
			}
		}
	}
}

func sameEvents(a, b *many[name, *model.Event], k name) bool {
	x, y := slices.Collect(a.of(k)), slices.Collect(b.of(k))
	return slices.EqualFunc(x, y, func(e, f *model.Event) bool { return reflect.DeepEqual(*e, *f) })
}
