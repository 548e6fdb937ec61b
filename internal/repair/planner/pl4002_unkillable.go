package planner

import (
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
)

// planUnkillable ends the mount that a process waits for, not the process.
func planUnkillable(b *builder, f *finding.Finding) *repair.Refusal {
	for _, r := range f.About {
		if m := b.unresponsiveMount(r.Name, ""); r.Kind == model.KindMount && m != nil {
			return b.abortMount(f, m)
		}
	}
	return &repair.Refusal{Why: "an unkillable process exits only when its wait ends, and no mount to abort was found", Advice: advice(f.Code)}
}
