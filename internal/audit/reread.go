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

// reread rereads the objects of every finding that is not of class Now, live, and
// evaluates them again.
//
// Order of the reads: Kubernetes, nodes, Calico, nodes, Kubernetes. If Kubernetes objects and
// node state have the same evidence before and after, they had it when Calico was read, so
// the sources differed at one instant. A finding that neither evaluation finds again was only
// a difference between the times of the reads and is dropped.
//
// It returns, for each remaining finding, the second evaluation of it, or the original with
// Why set if the reread could not verify it (Why empty means verified); the coverage of
// tables that were read first and could not be reread; and when the reread ended, by the API
// server's clock. If one source fails, all findings are returned with Why set. v is a
// view of s: it is reused if the reread changed no row. s and v are not changed. Named are objects, by
// key of a finding, that its evidence had when s was read.
func reread(ctx context.Context, s *model.Snapshot, v *model.View, src Source, ds []*detect.Detector, found []finding.Finding, named map[string][]model.Ref) ([]finding.Finding, []model.Coverage, model.Time) {
	refs, subjects := candidates(found, named)
	// The second answer of Kubernetes is also the time at which Calico had been read. If no
	// ref is a Kubernetes object, any node serves for that.
	if len(s.Nodes) > 0 && !slices.Contains(refs, s.Nodes[0].Ref()) {
		refs = append(refs, s.Nodes[0].Ref())
	}
	owners, facts, calico, err := src.rereadAll(ctx, refs)
	if err != nil {
		for i := range found {
			if found[i].Class != finding.Now {
				found[i].Why = "reread failed: " + err.Error()
			}
		}
		return found, nil, s.Meta.Taken
	}
	now := model.At(owners[1].At)
	if now.IsZero() {
		now = max(s.Meta.Taken, model.At(calico.At), model.At(owners[0].At))
	}
	// One after the other: a view of a large cluster needs much memory.
	var sees [2]readTables
	again := func(i int) map[string]*finding.Finding {
		p, changed := observe.Patched(s, facts[i], owners[i], calico)
		w := v.Under(p)
		if changed {
			w = model.Seal(p)
		}
		sees[i] = seeing(p)
		return index(detect.Judge(w, subjects, ds...).Findings)
	}
	before, after := again(0), again(1)
	lost := lostTables(facts[:], s)
	var out []finding.Finding
	for i := range found {
		f := found[i]
		if f.Class == finding.Now {
			out = append(out, f)
			continue
		}
		if g, ok := compared(f, before[f.Key()], after[f.Key()], sees); ok {
			out = append(out, g)
		}
	}
	return out, lost, now
}

// rereadAll reads the objects in the order that reread needs; owners and facts have what
// Kubernetes and the nodes answered before and after Calico. The nodes are not read if the
// source has none.
func (src Source) rereadAll(ctx context.Context, refs []model.Ref) (owners, facts [2]observe.Reread, calico observe.Reread, err error) {
	var errs [5]error
	nodes := func(ctx context.Context, refs []model.Ref) (observe.Reread, error) {
		if src.Nodes == nil {
			return observe.Reread{}, nil
		}
		return src.Nodes.Reread(ctx, refs)
	}
	owners[0], errs[0] = src.Kubernetes.Reread(ctx, refs)
	facts[0], errs[3] = nodes(ctx, refs)
	calico, errs[1] = src.Calico.Reread(ctx, refs)
	facts[1], errs[4] = nodes(ctx, refs)
	owners[1], errs[2] = src.Kubernetes.Reread(ctx, refs)
	return owners, facts, calico, errors.Join(errs[:]...)
}

// compared decides by the evaluations before and after Calico was read, each nil if it does
// not find f again: false if neither does; the later one if both do, with the same evidence;
// else f with Why set, as when a table that its detector uses could not be reread.
func compared(f finding.Finding, before, after *finding.Finding, sees [2]readTables) (finding.Finding, bool) {
	both := before != nil && after != nil
	switch {
	case !both && unreadTables(&f, sees):
		f.Why = "its node did not answer the reread"
	case before == nil && after == nil:
		return f, false
	case !both || !after.Same(before):
		f.Why = "its objects changed during the reread"
	default:
		f = *after
	}
	return f, true
}

// unreadTables reports whether a node table that the detector of f uses could not be reread
// on a node of its evidence: then the absence of the finding means nothing.
func unreadTables(f *finding.Finding, sees [2]readTables) bool {
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

// readTables has the tables that were read completely, by node.
type readTables map[place]bool

type place struct {
	table model.Table
	node  string
}

func seeing(s *model.Snapshot) readTables {
	out := make(readTables, len(s.Coverage))
	for _, c := range s.Coverage {
		out[place{c.Table, c.Node}] = c.State.Seen()
	}
	return out
}

// lostTables is the coverage of the tables that the snapshot has and that could not be
// reread, each table and node once.
func lostTables(rereads []observe.Reread, s *model.Snapshot) []model.Coverage {
	seen := seeing(s)
	var out []model.Coverage
	for i := range rereads {
		for _, c := range rereads[i].Rows.Coverage {
			if k := (place{c.Table, c.Node}); !c.State.Seen() && seen[k] {
				seen[k] = false // once
				out = append(out, c)
			}
		}
	}
	return out
}

// candidates returns the objects to reread (all refs of the evidence, also of before) and the subjects to
// evaluate again, each once. Findings of class Now need no reread.
func candidates(found []finding.Finding, named map[string][]model.Ref) ([]model.Ref, []model.Subject) {
	seen := map[model.Ref]bool{}
	judged := map[model.Subject]bool{}
	var refs []model.Ref
	var subjects []model.Subject
	for i := range found {
		if found[i].Class == finding.Now {
			continue
		}
		of := named[found[i].Key()]
		for _, e := range found[i].Evidence {
			of = append(of[:len(of):len(of)], e.Ref)
		}
		for _, r := range of {
			if !seen[r] {
				seen[r] = true
				refs = append(refs, r)
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
