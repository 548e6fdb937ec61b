package repair

import (
	"net/netip"
	"strings"

	"plumbline.dev/plumbline/internal/model"
)

// claimed tells that anybody living says that the address is his, however weakly: enough
// to leave it alone. An endpoint alone is nobody; see endpointWith.
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

// handleOf finds the object of a handle; nil if there is none of that spelling. One that
// is only named is Missing.
func (b *builder) handleOf(id string) *model.Handle {
	for h := range b.view.HandlesOf(id) {
		if sanitized(h.ID) == sanitized(id) {
			return h
		}
	}
	return nil
}

// sanitized cuts what old plugins left behind a carriage return, as Calico does it.
func sanitized(handle string) string {
	handle, _, _ = strings.Cut(handle, "\r")
	return handle
}

func handleRef(id string) model.Ref { return model.Ref{Kind: model.KindHandle, Name: sanitized(id)} }
