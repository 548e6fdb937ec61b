package planner

import (
	"strings"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
)

// planOtherSandbox makes the endpoint of a pod name its running sandbox.
func planOtherSandbox(b *builder, f *finding.Finding) *repair.Refusal {
	ns, name, _ := strings.Cut(f.Subject.Name, "/")
	var old *model.Endpoint
	if pod := b.view.PodByName(ns, name); pod != nil {
		for e := range b.view.EndpointsOf(ns, name) {
			if b.view.SameNode(e.Node, pod.Node) {
				old = e
			}
		}
	}
	return b.rescue(f, old)
}
