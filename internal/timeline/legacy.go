package timeline

import (
	"fmt"
	"maps"
	"slices"

	"plumbline.dev/plumbline/internal/model"
)

// legacyHandles finds blocks, as people paste them, whose handles are named after pods.
func legacyHandles(rows []row) []Verdict {
	type found struct {
		handles map[string]bool
		lines   []Place
	}
	by := map[string]*found{}
	var blocks []string
	for i := range rows {
		r := &rows[i]
		if r.kind != HandleSeen || !model.Legacy(r.object) || model.Reusable(r.object) {
			continue
		}
		if by[r.state] == nil {
			by[r.state] = &found{handles: map[string]bool{}}
			blocks = append(blocks, r.state)
		}
		f := by[r.state]
		if f.handles[r.object] = true; len(f.lines) < maxContext {
			f.lines = append(f.lines, r.place)
		}
	}
	var out []Verdict
	for _, b := range blocks {
		f := by[b]
		name := "a block"
		if b != "" {
			name = "block " + b
		}
		out = append(out, Verdict{
			Cause: LegacyHandle, Certainty: Proven, Count: len(f.handles), Lines: tidy(f.lines),
			Says:     fmt.Sprintf("%s has handles named after pods, as Calico 2 did: %s; the DEL of an older pod of that name releases the address of a newer one", name, some(slices.Sorted(maps.Keys(f.handles)))),
			NotShown: []string{"whether these pods exist, and what their addresses are: the pasted lines do not show it"},
		})
	}
	return out
}
