package planner

import (
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/repair"
)

// planNoEndpoint restores the IPAM records and the endpoint of a running pod.
func planNoEndpoint(b *builder, f *finding.Finding) *repair.Refusal { return b.rescue(f, nil) }
