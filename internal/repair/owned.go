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

// containerID is the end of a handle that is named after a container; empty if it is not.
func containerID(handle string) string {
	handle = sanitized(handle)
	i := strings.LastIndexByte(handle, '.')
	id := handle[i+1:]
	if i < 0 || len(id) < 12 || strings.Trim(strings.ToLower(id), "0123456789abcdef") != "" {
		return ""
	}
	return id
}

// reusable tells that the handle's name is its owner's, which may come back to it: a
// tunnel, a load balancer's service, a machine.
func reusable(id string) bool {
	return strings.Contains(id, "-tunnel-addr-") || strings.HasPrefix(id, "lb-") || strings.Contains(id, ".vmi.")
}

// podOf gives the pod that an attribute names. Calico 2 named it in the handle only.
func podOf(at *model.Attribute) (namespace, name string) {
	if at.Pod != "" {
		return at.Namespace, at.Pod
	}
	if ns, pod, ok := strings.Cut(at.Handle, "."); ok && !strings.HasPrefix(at.Handle, "plumbline-") && containerID(at.Handle) == "" && !strings.Contains(pod, ".") {
		return ns, pod
	}
	return "", ""
}

// vmOf gives the machine that an attribute names.
func vmOf(at *model.Attribute) string {
	if at.VM != "" {
		return at.VM
	}
	_, rest, ok := strings.Cut(at.Handle, ".vmi.")
	if !ok {
		return ""
	}
	if _, vm, ok := strings.Cut(rest, "."); ok {
		return vm
	}
	return rest
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
