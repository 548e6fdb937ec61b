package planner

import (
	"strings"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
)

// planStuck ends the hung mount that keeps a pod from being deleted.
func planStuck(b *builder, f *finding.Finding) *repair.Refusal {
	for _, r := range f.About {
		if r.Kind != model.KindMount {
			continue
		}
		ns, name, _ := strings.Cut(f.Subject.Name, "/")
		if pod := b.view.PodByName(ns, name); pod != nil {
			if m := b.unresponsiveMount(r.Name, pod.UID); m != nil {
				return b.abortMount(f, m)
			}
		}
	}
	return &repair.Refusal{Why: "nothing that blocks the pod's deletion can be ended safely", Advice: advice(f.Code)}
}
