package planner

import (
	"net/netip"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/change"
)

// felixTime is the number of seconds within which Felix sets the route of a right endpoint.
const felixTime = 90

// rescue plans the records of a pod from its running sandbox. IPAM comes before the endpoint
// or annotation, because Felix routes an address to whoever publishes it.
func (b *builder) rescue(f *finding.Finding, old *model.Endpoint) *repair.Refusal {
	ns, name, _ := strings.Cut(f.Subject.Name, "/")
	pod := b.view.PodByName(ns, name)
	if pod == nil {
		return &repair.Refusal{Why: "the pod is gone", Advice: "run plumbline check again"}
	}
	t, no := b.runningPodOf(pod)
	var ps []*assignment
	if no == nil {
		ps, no = b.assignments(t)
	}
	var shown change.Change
	if no == nil {
		shown, no = b.shown(t, old)
	}
	switch {
	case no != nil:
		return no
	case len(ps) == 0 && shown == nil:
		return &repair.Refusal{Why: "Kubernetes, Calico and the node now agree", Advice: "run plumbline check again"}
	}
	target := b.target(f, b.routed(t, ps...), t.proof())
	if len(ps) > 0 {
		target.Watch = b.watchSeconds()
	}
	b.record(f, t, ps...)
	if shown == nil {
		return nil
	}
	switch c := shown.(type) {
	case *change.Annotate:
		c.Blocks = b.blocksOf(t, ps)
	case *change.Endpoint:
		c.Blocks = b.blocksOf(t, ps)
	}
	switch _, annotates := shown.(*change.Annotate); {
	case annotates:
		b.step(publish, f, "annotate", pod.Ref(), shown)
	case old != nil:
		b.step(publish, f, "correct", old.Ref(), shown)
	default:
		b.step(publish, f, "create", b.endpointRef(t), shown)
	}
	b.await(f, t)
	return nil
}

// blocksOf gives the blocks that have the addresses of a running pod, or will have them.
func (b *builder) blocksOf(t *runningPod, ps []*assignment) []netip.Prefix {
	var out []netip.Prefix
	add := func(p netip.Prefix) {
		if !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	for _, ip := range t.ips {
		if i := slices.IndexFunc(ps, func(p *assignment) bool { return p.ip == ip }); i >= 0 {
			add(ps[i].block)
		} else if block, _ := b.onlyBlock(ip); block != nil {
			add(block.CIDR)
		}
	}
	return out
}

// assignments are the changes that IPAM needs for all addresses of a running pod.
func (b *builder) assignments(t *runningPod) ([]*assignment, *repair.Refusal) {
	var out []*assignment
	for _, ip := range t.ips {
		p, no := b.assignment(t, ip, nil)
		if no != nil {
			return nil, no
		}
		if p != nil {
			out = append(out, p)
		}
	}
	return out, nil
}

// shown gives the change that publishes the pod to Felix; nil if it is published.
func (b *builder) shown(t *runningPod, old *model.Endpoint) (change.Change, *repair.Refusal) {
	if b.view.Info().Datastore == "etcd" {
		return b.endpointOf(t, old)
	}
	pod := t.pod
	same := len(pod.Annotated) == len(t.ips) && !slices.ContainsFunc(t.ips, func(ip netip.Addr) bool { return !slices.Contains(pod.Annotated, ip) })
	if pod.Annotation == model.Written && pod.ContainerID == t.sandbox.ID && same {
		return nil, nil
	}
	return &change.Annotate{UID: pod.UID, IPs: t.prefixes(), Container: t.sandbox.ID, From: pod.ContainerID}, nil
}
