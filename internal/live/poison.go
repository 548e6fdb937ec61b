package live

import "plumbline.dev/plumbline/internal/model"

// Fallen gives a snapshot in which can be judged what failed nodes have in common, and
// those nodes; nil if there are none.
func (s *Store) Fallen(now model.Time) (*model.Snapshot, []model.Subject) {
	a := s.around()
	fallen := a.fallen()
	if len(fallen) == 0 {
		return nil, nil
	}
	return a.snapshot(now, s.brief), fallen
}

// fallen adds all nodes, the pods of those that are not ready or said something of
// themselves, and all pods that use what those use. It looks through all pods.
func (a *around) fallen() []model.Subject {
	s := a.s
	var out []model.Subject
	things := map[string]bool{}
	for n, row := range s.nodes {
		f := s.brief[n]
		if row.Ready && (f == nil || !suffers(f)) {
			continue
		}
		a.factsOf(n)
		out = append(out, model.Subject{Table: model.Nodes, Ref: row.Ref()})
		for p := range s.podsOn.of(n) {
			a.pods.add(p)
			for _, t := range p.Volumes {
				things[t] = true
			}
			for _, t := range p.Images {
				things[t] = true
			}
		}
	}
	if len(out) == 0 {
		return nil
	}
	for n := range s.nodes {
		a.name(n)
	}
	for _, p := range s.pods {
		if uses(p.Volumes, things) || uses(p.Images, things) {
			a.pods.add(p)
		}
	}
	return out
}

// suffers tells that a node says of itself that something is silent.
func suffers(f *model.NodeState) bool {
	for i := range f.Mounts {
		if f.Mounts[i].Silent {
			return true
		}
	}
	for i := range f.Runtimes {
		if f.Runtimes[i].Error != "" {
			return true
		}
	}
	return false
}

func uses(what []string, of map[string]bool) bool {
	for _, w := range what {
		if of[w] {
			return true
		}
	}
	return false
}
