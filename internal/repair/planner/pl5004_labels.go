package planner

import (
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/change"
)

// planLabels adds the labels by which IPAM selects the affinities of a node.
func planLabels(b *builder, f *finding.Finding) *repair.Refusal {
	a := b.affinity(f.Subject)
	if a == nil || a.Labelled {
		return &repair.Refusal{Why: "the affinity is gone, or has its labels", Advice: "run plumbline check again"}
	}
	b.target(f, change.Safe, change.Proof{})
	b.wantAffinity(f, a, "label", change.AffinityLabelled)
	return nil
}
