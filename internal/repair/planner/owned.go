package planner

import (
	"net/netip"
	"strings"

	"plumbline.dev/plumbline/internal/model"
)

// claimed reports that a pod, sandbox, tunnel or service has the address, by any source:
// enough to not release it. An endpoint alone does not count; see endpointWith.
func (b *builder) claimed(ip netip.Addr) bool {
	for c := range b.view.Claims(ip) {
		if c.By != model.ByEndpoint {
			return true
		}
	}
	return false
}

// endpointWith gives an endpoint that has the address, or nil.
func (b *builder) endpointWith(ip netip.Addr) *model.Endpoint {
	for c := range b.view.Claims(ip) {
		if c.By == model.ByEndpoint {
			return b.view.Endpoint(c.Row)
		}
	}
	return nil
}

// handleOf finds the handle with that spelling; nil if there is none. A handle that only
// blocks name has Missing set.
func (b *builder) handleOf(id string) *model.Handle {
	for h := range b.view.HandlesOf(id) {
		if sanitized(h.ID) == sanitized(id) {
			return h
		}
	}
	return nil
}

// sanitized cuts a handle ID at a carriage return, which old plugins left, as Calico does.
func sanitized(handle string) string {
	handle, _, _ = strings.Cut(handle, "\r")
	return handle
}

func handleRef(id string) model.Ref { return model.Ref{Kind: model.KindHandle, Name: sanitized(id)} }
