package repair

import (
	"cmp"

	"plumbline.dev/plumbline/internal/repair/change"
)

// MarkNoUndo sets NoUndo of the targets that cannot be undone and do not say so yet.
func (p *Plan) MarkNoUndo() {
	for i := range p.Targets {
		if t := &p.Targets[i]; t.NoUndo == "" {
			t.NoUndo = p.noUndo(t)
		}
	}
}

// noUndo gives why no step for a finding can be undone; empty if at least one can. What
// handles count is said only if there is no other reason.
func (p *Plan) noUndo(t *Target) string {
	why, counts := "", ""
	for i := range p.Steps {
		s := &p.Steps[i]
		if !s.Serves(t.Finding) {
			continue
		}
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
