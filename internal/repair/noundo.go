package repair

import (
	"cmp"

	"plumbline.dev/plumbline/internal/repair/change"
)

// MarkNoUndo sets NoUndo of the targets that cannot be undone and do not say so yet.
func (p *Plan) MarkNoUndo() {
	steps := p.stepsFor()
	for i := range p.Targets {
		if t := &p.Targets[i]; t.NoUndo == "" {
			t.NoUndo = noUndo(t, steps[t.Finding])
		}
	}
}

// stepsFor gives the steps of each finding, in order.
func (p *Plan) stepsFor() map[string][]*Step {
	out := map[string][]*Step{}
	for i := range p.Steps {
		for _, f := range p.Steps[i].For {
			out[f] = append(out[f], &p.Steps[i])
		}
	}
	return out
}

// noUndo gives why no step for a finding can be undone; empty if at least one can. What
// handles count is said only if there is no other reason.
func noUndo(t *Target, steps []*Step) string {
	why, counts := "", ""
	for _, s := range steps {
		not, undoable := s.Change.NoUndo(t.Finding)
		switch _, count := s.Change.(*change.Count); {
		case undoable:
			return ""
		case count:
			counts = not
		case not != "":
			why = not
		}
	}
	return cmp.Or(why, counts)
}
