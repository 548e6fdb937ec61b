package repair

import (
	"net/netip"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair/change"
)

// planUnrecorded records an address that a running pod uses and that IPAM has as free.
func planUnrecorded(b *builder, f *finding.Finding) *Refusal {
	ip, err := netip.ParseAddr(f.Subject.Name)
	if err != nil {
		return &Refusal{Why: "its subject is not an IP address"}
	}
	pod, no := b.userOf(ip)
	var t *runningPod
	if no == nil {
		t, no = b.runningPodOf(pod)
	}
	var p *assignment
	if no == nil {
		p, no = b.assignment(t, ip, nil)
	}
	switch {
	case no != nil:
		return no
	case p == nil:
		return &Refusal{Why: "IPAM now has the address for the pod", Advice: "run plumbline check again"}
	}
	target := b.target(f, b.routed(t, p), t.proof())
	target.Watch = b.watchSeconds()
	if p.missing != nil {
		target.Warnings = append(target.Warnings, "all nodes will route "+p.block.String()+" to "+p.home)
	}
	b.record(f, t, p)
	return nil
}

// userOf gives the only pod that has an address: by status or annotation, else by the
// sandbox that its own node reports.
func (b *builder) userOf(ip netip.Addr) (*model.Pod, *Refusal) {
	v := b.view
	var pods []*model.Pod
	add := func(pod *model.Pod) {
		if pod != nil && !slices.Contains(pods, pod) {
			pods = append(pods, pod)
		}
	}
	for pod := range v.PodsWith(ip) {
		add(pod)
	}
	if len(pods) == 0 {
		for at := range v.AttachmentsWith(ip) {
			if sandbox := v.SandboxNamed(at.Node, at.Sandbox); sandbox != nil && sandbox.Ready {
				if pod := v.PodByUID(sandbox.UID); pod != nil && pod.Node == sandbox.Node {
					add(pod)
				}
			}
		}
	}
	switch {
	case len(pods) > 1:
		return nil, refuse("repair the duplicate address (PL2010) first", "%d pods have %s", len(pods), ip)
	case len(pods) == 0:
		return nil, refuse("check what runs in that sandbox; when it exits, nothing needs a record", "no pod in Kubernetes has %s", ip)
	case pods[0].NoIPAM:
		return nil, refuse("exclude such addresses from IPAM with an IPReservation", "the pod requested %s without IPAM", ip)
	}
	return pods[0], nil
}

// felixTime is the number of seconds within which Felix sets the route of a right endpoint.
const felixTime = 90

// planNoEndpoint restores the IPAM records and the endpoint of a running pod.
func planNoEndpoint(b *builder, f *finding.Finding) *Refusal { return b.rescue(f, nil) }

// planOtherSandbox makes the endpoint of a pod name its running sandbox.
func planOtherSandbox(b *builder, f *finding.Finding) *Refusal {
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

// rescue plans the records of a pod from its running sandbox. IPAM comes before the endpoint
// or annotation, because Felix routes an address to whoever publishes it.
func (b *builder) rescue(f *finding.Finding, old *model.Endpoint) *Refusal {
	ns, name, _ := strings.Cut(f.Subject.Name, "/")
	pod := b.view.PodByName(ns, name)
	if pod == nil {
		return &Refusal{Why: "the pod is gone", Advice: "run plumbline check again"}
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
		return &Refusal{Why: "Kubernetes, Calico and the node now agree", Advice: "run plumbline check again"}
	}
	target := b.target(f, b.routed(t, ps...), t.proof())
	if len(ps) > 0 {
		target.Watch = b.watchSeconds()
	}
	b.record(f, t, ps...)
	if shown == nil {
		return nil
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

// assignments are the changes that IPAM needs for all addresses of a running pod.
func (b *builder) assignments(t *runningPod) ([]*assignment, *Refusal) {
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
func (b *builder) shown(t *runningPod, old *model.Endpoint) (change.Change, *Refusal) {
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
