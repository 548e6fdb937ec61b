package live

import (
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/model"
)

// PutFacts takes what all nodes said, in the place of what they said before.
func (s *Store) PutFacts(said *model.Snapshot) {
	clear(s.onNode)
	for _, c := range said.Coverage {
		if c.Node != "" {
			s.onNode[c.Node] = append(s.onNode[c.Node], c)
		}
	}
	s.facts, s.brief = said.NodeState, make(map[string]*model.NodeState, len(said.NodeState))
	s.inside, s.insideOf, s.insideUID = newMany[netip.Addr, place](), newMany[name, netip.Addr](), newMany[string, netip.Addr]()
	for node, f := range said.NodeState {
		if f == nil {
			continue
		}
		b := brief(f)
		s.brief[node] = b
		boxes := make(map[string]*model.Sandbox, len(b.Sandboxes))
		for i := range b.Sandboxes {
			boxes[b.Sandboxes[i].ID] = &b.Sandboxes[i]
		}
		for i := range b.Attachments {
			at := &b.Attachments[i]
			box := boxes[at.Sandbox]
			for _, q := range at.IPs {
				s.inside.add(q.Addr(), place{node, box})
				if box != nil {
					s.insideOf.add(name{box.Namespace, box.Pod}, q.Addr())
					s.insideUID.add(box.UID, q.Addr())
				}
			}
		}
	}
	s.anew = true
}

// brief is what the books' own rows are judged by: a pod that changes does not have all
// its node's devices looked through. The rows are copies, since sealing writes on them.
func brief(f *model.NodeState) *model.NodeState {
	return &model.NodeState{
		Paths: slices.Clone(f.Paths), Attachments: slices.Clone(f.Attachments), Sandboxes: slices.Clone(f.Sandboxes), Containers: slices.Clone(f.Containers),
		CNIConfigs: slices.Clone(f.CNIConfigs), CNIResults: slices.Clone(f.CNIResults), Processes: slices.Clone(f.Processes), Mounts: slices.Clone(f.Mounts),
		Runtimes: slices.Clone(f.Runtimes), Machines: slices.Clone(f.Machines),
	}
}

func whole(f *model.NodeState) *model.NodeState {
	w := brief(f)
	w.Links, w.Routes, w.Rules = slices.Clone(f.Links), slices.Clone(f.Routes), slices.Clone(f.Rules)
	w.Neighbours, w.Sysctls = slices.Clone(f.Neighbours), slices.Clone(f.Sysctls)
	return w
}

func (a *around) factsOf(node string) {
	if node != "" {
		a.facts[node] = struct{}{}
	}
}

// nodeWhole adds all pods of a node, and all whom it knows: what it says of itself is
// judged by them.
func (a *around) nodeWhole(node string) {
	if !a.first(owner{model.KindMachine, name{"", node}}) {
		return
	}
	a.name(node)
	a.factsOf(node)
	for p := range a.s.podsOn.of(node) {
		a.pod(name{p.Namespace, p.Name})
	}
	f := a.s.facts[node]
	if f == nil {
		return
	}
	for i := range f.Sandboxes {
		a.known(f.Sandboxes[i].UID)
		a.pod(name{f.Sandboxes[i].Namespace, f.Sandboxes[i].Pod})
	}
	for i := range f.Processes {
		a.known(f.Processes[i].PodUID)
	}
	for i := range f.Mounts {
		m := &f.Mounts[i]
		a.known(m.Pods...)
		a.known(m.Dead)
		for _, h := range m.HeldBy {
			a.known(h.PodUID)
		}
	}
	for i := range f.CNIConfigs {
		a.name(f.CNIConfigs[i].NodeName)
	}
	for i := range f.Machines {
		a.name(f.Machines[i].CalicoName)
	}
}
