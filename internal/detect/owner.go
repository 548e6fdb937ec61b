package detect

import (
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// holds reports whether a pod that is not finished has the address now: by Calico's record
// (annotation or endpoint), or by the status of a ready pod without a valid annotation. The
// status of a pod that is not ready does not count; the kubelet may not have updated it yet.
func holds(p *Pass, pod *model.Pod, a netip.Addr) bool {
	if !pod.Networked() {
		return false
	}
	return byCalicosWord(p, pod, a) || pod.Ready && pod.Annotation != model.Written && slices.Contains(pod.IPs, a)
}

// byCalicosWord reports whether Calico's record of the pod has the address. The status is
// weaker: the kubelet writes it, and under load it reports a pod as ready whose sandbox is
// being replaced.
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

// classHeld is the class of a finding about an address that these pods have: Node if one of
// their nodes is not ready, Teardown if only a status has the address, else Transient.
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

// holders returns the pods that have the address, as holds defines it, each once.
func holders(p *Pass, a netip.Addr) []*model.Pod {
	var out []*model.Pod
	for pod := range p.PodsWith(a) {
		if holds(p, pod, a) && !slices.Contains(out, pod) {
			out = append(out, pod)
		}
	}
	return out
}

// claimed reports whether any pod, tunnel, service or sandbox in use claims the address, by
// any source: enough not to treat it as leaked. Endpoints alone do not count.
func claimed(p *Pass, a netip.Addr) bool {
	for c := range p.Claims(a) {
		if c.By != model.ByEndpoint {
			return true
		}
	}
	return false
}

// classOf is the class of a finding about a pod. While the pod is not ready, its sandbox may
// be being replaced for hours, and only its node can confirm anything. While it is ready, or
// its node's agent reports its running sandbox, that takes no longer than the kubelet waits
// for a sandbox.
func classOf(p *Pass, pod *model.Pod) finding.Class {
	if !pod.Ready && !stands(p, pod) {
		return finding.Node
	}
	return classOn(p, pod.Node, finding.Teardown)
}

// classOn is c, or Node if the node exists and is not ready: then its state is unknown and
// the finding stays unconfirmed.
func classOn(p *Pass, node string, c finding.Class) finding.Class {
	if n := p.NodeByName(node); n != nil && !n.Ready {
		return finding.Node
	}
	return c
}
