package audit

import (
	"context"
	"errors"
	"slices"

	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// lookAgain reads the candidates live, as a sandwich: owners and nodes, ledger, nodes and
// owners. If what matters of an owner or a node is the same in both, it was so at the
// instant when the ledger was read, and the books disagreed at one moment. What is not
// seen again was a difference in time only, and is dropped. It tells when the second look was.
func lookAgain(ctx context.Context, s *model.Snapshot, src Source, judge judging, found []finding.Finding) ([]finding.Finding, []model.Coverage, model.Time) {
	return lookFrom(ctx, s, nil, src, judge, found)
}

type judging = func(*model.View, []model.Subject) detect.Result

// lookFrom is lookAgain for who has a view of the snapshot: where nothing has changed, it
// serves again.
func lookFrom(ctx context.Context, s *model.Snapshot, v *model.View, src Source, judge judging, found []finding.Finding) ([]finding.Finding, []model.Coverage, model.Time) {
	refs, subjects := candidates(found)
	// The owners' second answer also tells the time at which the ledger had been read:
	// any node will do for that, if no owner is among the candidates.
	if len(s.Nodes) > 0 && !slices.Contains(refs, s.Nodes[0].Ref()) {
		refs = append(refs, s.Nodes[0].Ref())
	}
	var facts [2]observe.Reread
	var err4, err5 error
	first, err1 := src.Kubernetes.Reread(ctx, refs)
	if src.Nodes != nil {
		facts[0], err4 = src.Nodes.Reread(ctx, refs)
	}
	ledger, err2 := src.Calico.Reread(ctx, refs)
	if src.Nodes != nil {
		facts[1], err5 = src.Nodes.Reread(ctx, refs)
	}
	second, err3 := src.Kubernetes.Reread(ctx, refs)
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		for i := range found {
			if found[i].Class != finding.Now {
				found[i].Why = "could not be looked at again: " + err.Error()
			}
		}
		return found, nil, s.Meta.Taken
	}
	now := model.At(second.At)
	if now.IsZero() {
		now = max(s.Meta.Taken, model.At(ledger.At), model.At(first.At))
	}
	// One after the other: a view of a large cluster is large.
	var sees [2]observation
	again := func(i int, owners observe.Reread) map[string]*finding.Finding {
		p, changed := observe.Patched(s, facts[i], owners, ledger)
		w := v
		if w == nil || changed {
			w = model.Seal(p)
		} else {
			w = w.Under(p)
		}
		sees[i] = seeing(p)
		return index(judge(w, subjects).Findings)
	}
	before, after := again(0, first), again(1, second)
	lost := silentSince(facts[:], s)
	var out []finding.Finding
	for i := range found {
		f := &found[i]
		if f.Class == finding.Now {
			out = append(out, *f)
			continue
		}
		b, inBefore := before[f.Key()]
		a, inAfter := after[f.Key()]
		switch {
		case (!inBefore || !inAfter) && unreadTables(f, sees):
			g := *f
			g.Why = "its node did not answer again"
			out = append(out, g)
		case !inBefore && !inAfter:
			continue
		case !inBefore || !inAfter || !a.Same(b):
			g := *f
			g.Why = "its owner is changing while we look"
			out = append(out, g)
		default:
			out = append(out, *a)
		}
	}
	return out, lost, now
}

// unreadTables tells that what a finding rests on could not be seen again on its node. Not seen
// is not gone.
func unreadTables(f *finding.Finding, sees [2]observation) bool {
	for _, e := range f.Evidence {
		node := e.Ref.OnNode()
		if node == "" {
			continue
		}
		d := detect.ByCode(f.Code)
		for _, seen := range sees {
			for _, t := range slices.Concat(d.Needs, d.Uses) {
				if t.OfNode() && !seen[place{t, node}] {
					return true
				}
			}
		}
	}
	return false
}

// A sight is which tables could be seen, of which node.
type observation map[place]bool

type place struct {
	table model.Table
	node  string
}

func seeing(s *model.Snapshot) observation {
	out := make(observation, len(s.Coverage))
	for _, c := range s.Coverage {
		out[place{c.Table, c.Node}] = c.State.Seen()
	}
	return out
}

// silentSince is what the second look could not see although the first could.
func silentSince(looks []observe.Reread, s *model.Snapshot) []model.Coverage {
	seen := seeing(s)
	var out []model.Coverage
	for i := range looks {
		for _, c := range looks[i].Rows.Coverage {
			if k := (place{c.Table, c.Node}); !c.State.Seen() && seen[k] {
				seen[k] = false // once
				out = append(out, c)
			}
		}
	}
	return out
}

// candidates gives what to read again and what to judge again.
func candidates(found []finding.Finding) ([]model.Ref, []model.Subject) {
	seen := map[model.Ref]bool{}
	judged := map[model.Subject]bool{}
	var refs []model.Ref
	var subjects []model.Subject
	for i := range found {
		if found[i].Class == finding.Now {
			continue
		}
		for _, e := range found[i].Evidence {
			if !seen[e.Ref] {
				seen[e.Ref] = true
				refs = append(refs, e.Ref)
			}
		}
		for _, s := range found[i].From {
			if !judged[s] {
				judged[s] = true
				subjects = append(subjects, s)
			}
		}
	}
	return refs, subjects
}

func index(fs []finding.Finding) map[string]*finding.Finding {
	out := make(map[string]*finding.Finding, len(fs))
	for i := range fs {
		out[fs[i].Key()] = &fs[i]
	}
	return out
}
