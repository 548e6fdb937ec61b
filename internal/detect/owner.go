package detect

import (
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// holds tells that a living pod has the address now, not only in a status that its
// kubelet has yet to renew: by Calico's own word (annotation or endpoint), or by the
// status of a pod that is ready.
func holds(p *Pass, pod *model.Pod, a netip.Addr) bool {
	if !pod.Networked() {
		return false
	}
	return byCalicosWord(p, pod, a) || pod.Ready && pod.Annotation != model.Written && slices.Contains(pod.IPs, a)
}

// byCalicosWord tells that Calico itself says that the pod has the address. The status
// is the kubelet's word, and a kubelet that is short of time says "ready" of a pod whose
// sandbox is being replaced.
func byCalicosWord(p *Pass, pod *model.Pod, a netip.Addr) bool {
	if slices.Contains(pod.Annotated, a) {
		return true
	}
	if p.Calico.Etcd {
		for e := range p.EndpointsOf(pod.Namespace, pod.Name) {
			if p.SameNode(e.Node, pod.Node) && slices.Contains(e.IPs, a) && slices.Contains(pod.IPs, a) {
				return true
			}
		}
	}
	return false
}

// classHeld is how long to wait for what is wrong with an address that pods have.
func classHeld(p *Pass, a netip.Addr, pods ...*model.Pod) finding.Class {
	c := finding.Transient
	for _, pod := range pods {
		switch {
		case classOn(p, pod.Node, finding.Transient) == finding.Node:
			return finding.Node
		case !byCalicosWord(p, pod, a):
			c = finding.Teardown
		}
	}
	return c
}

// holders gives the living pods that have the address.
func holders(p *Pass, a netip.Addr) []*model.Pod {
	var out []*model.Pod
	for pod := range p.PodsWith(a) {
		if holds(p, pod, a) && !slices.Contains(out, pod) {
			out = append(out, pod)
		}
	}
	return out
}

// claimed tells that anybody living says that the address is his, however weakly:
// enough to leave it alone.
func claimed(p *Pass, a netip.Addr) bool {
	for c := range p.Claims(a) {
		if c.By != model.ByEndpoint {
			return true
		}
	}
	return false
}

// classOf is how long to wait for what is wrong with a pod: while it is not ready its
// sandbox may be being replaced, for hours, and only its node can tell. While it is ready,
// or its node shows its sandbox, that takes no longer than the kubelet waits for one.
func classOf(p *Pass, pod *model.Pod) finding.Class {
	if !pod.Ready && !stands(p, pod) {
		return finding.Node
	}
	return classOn(p, pod.Node, finding.Teardown)
}

// classOn is how long to wait for what a node does: for ever, if it is not ready,
// since then nobody knows what it does.
func classOn(p *Pass, node string, c finding.Class) finding.Class {
	if n := p.NodeByName(node); n != nil && !n.Ready {
		return finding.Node
	}
	return c
}
