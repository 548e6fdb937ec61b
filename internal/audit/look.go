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

// lookAgain reads the suspects live, as a sandwich: owners and nodes, ledger, nodes and
// owners. If what matters of an owner or a node is the same in both, it was so at the
// instant when the ledger was read, and the books disagreed at one moment. What is not
// seen again was a difference in time only, and is dropped. It tells when the second look was.
func lookAgain(ctx context.Context, s *model.Snapshot, src Source, ds []*detect.Detector, found []finding.Finding) ([]finding.Finding, model.Time) {
	refs, subjects := suspects(found)
	// The owners' second answer also tells the time at which the ledger had been read:
	// any node will do for that, if no owner is among the suspects.
	if len(s.Nodes) > 0 && !slices.Contains(refs, s.Nodes[0].Ref()) {
		refs = append(refs, s.Nodes[0].Ref())
	}
	var facts [2]observe.Look
	var err4, err5 error
	first, err1 := src.Owners.Look(ctx, refs)
	if src.Facts != nil {
		facts[0], err4 = src.Facts.Look(ctx, refs)
	}
	ledger, err2 := src.Ledger.Look(ctx, refs)
	if src.Facts != nil {
		facts[1], err5 = src.Facts.Look(ctx, refs)
	}
	second, err3 := src.Owners.Look(ctx, refs)
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		for i := range found {
			if found[i].Class != finding.Now {
				found[i].Why = "could not be looked at again: " + err.Error()
			}
		}
		return found, s.Meta.Taken
	}
	now := model.At(second.At)
	if now.IsZero() {
		now = max(s.Meta.Taken, model.At(ledger.At), model.At(first.At))
	}
	before := index(detect.Judge(model.Seal(observe.Patch(s, facts[0], first, ledger)), subjects, ds...).Findings)
	after := index(detect.Judge(model.Seal(observe.Patch(s, facts[1], second, ledger)), subjects, ds...).Findings)
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
	return out, now
}

// suspects gives what to read again and what to judge again.
func suspects(found []finding.Finding) ([]model.Ref, []model.Subject) {
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
