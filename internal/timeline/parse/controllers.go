package parse

import (
	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/records"
)

// controllers parses lines of the IPAM garbage collector. They have everything that identifies
// the address: ip, handle, node and pod.
func (t *Parser) controllers(r *records.Record, w word) {
	e := timeline.Event{
		Kind:    timeline.GCCandidate,
		Address: address(field(r.Text, "ip")),
		Object:  id(field(r.Text, "handle")),
		Node:    id(field(r.Text, "node")),
	}
	if w == leakReleased {
		e.Kind = timeline.GCReleased
	}
	e.Sandbox = timeline.SandboxOf(e.Object)
	e.Pod = podAt(field(r.Text, "pod"), '/')
	e.Note = sentence(r.Text)
	t.event(r, "controllers", e)
	t.credential(r, new(call))
}
