package planner

import (
	"cmp"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/change"
)

// planNoPod deletes an endpoint that has no pod. It does not release the address: that is
// the repair of PL1001. (Calico would release it by address, whoever owns it by now.)
func planNoPod(b *builder, f *finding.Finding) *repair.Refusal {
	e := b.endpointIn(f)
	if e == nil {
		return &repair.Refusal{Why: "the endpoint is gone", Advice: "run plumbline check again"}
	}
	if t, other := b.insteadOf(e); t != nil {
		target := b.target(f, change.Safe, t.proof())
		target.NoUndo = "the pod has its endpoint on the node that runs it"
		b.step(removeEndpoints, f, "delete", e.Ref(), &change.Endpoint{Container: e.ContainerID, Instead: other.Ref()})
		return nil
	}
	d, no := b.endpointNotInUse(e)
	if no != nil {
		return no
	}
	target := b.target(f, change.Safe, change.Proof{NotInUse: d})
	target.NoUndo = "the pod of the endpoint does not exist"
	for _, ip := range e.IPs {
		for pod := range b.view.PodsWith(ip) {
			target.Risk = change.Disruptive // Felix had two endpoints with one address
			target.Touches = append(target.Touches, pod.Namespace+"/"+pod.Name+" also has "+ip.String())
		}
	}
	b.step(removeEndpoints, f, "delete", e.Ref(), &change.Endpoint{Container: e.ContainerID})
	return nil
}

// insteadOf finds the running pod that has another endpoint with the same sandbox on the
// node that runs it. e names another node: it was written while a node had a wrong name.
// The pod's DEL deletes only the other endpoint, so e would never be deleted.
func (b *builder) insteadOf(e *model.Endpoint) (*runningPod, *model.Endpoint) {
	pod := b.view.PodByName(e.Namespace, e.Pod)
	if pod == nil || e.Orchestrator != "k8s" || b.view.NodeByName(e.Node) == nil || !b.ownHost(e.Node) || b.view.SameNode(e.Node, pod.Node) {
		return nil, nil
	}
	t, no := b.runningPodOf(pod)
	if no != nil || t.sandbox.ID != e.ContainerID {
		return nil, nil
	}
	own := b.endpointRef(t)
	for other := range b.view.EndpointsOf(e.Namespace, e.Pod) {
		if other.Ref() == own && other.ContainerID == t.sandbox.ID && b.view.SameNode(other.Node, pod.Node) {
			return t, other
		}
	}
	return nil, nil
}

// endpointNotInUse gives what must be verified before an endpoint is deleted: no node has its sandbox.
func (b *builder) endpointNotInUse(e *model.Endpoint) (*change.NotInUse, *repair.Refusal) {
	v := b.view
	b.surveyNodes()
	node := v.NodeByName(e.Node)
	pod := v.PodByName(e.Namespace, e.Pod)
	switch {
	case e.Orchestrator != "k8s":
		return nil, refuse("", "the endpoint belongs to orchestrator %s, not to Kubernetes", cmp.Or(e.Orchestrator, "unknown"))
	case node == nil || v.Stranger(e.Node) || !b.ownHost(e.Node):
		return nil, refuse("set orchRefs of the Calico node to its Kubernetes node", "Calico node %s is not known to belong to this cluster", e.Node)
	case len(e.ContainerID) < 12:
		return nil, refuse("", "the endpoint names no sandbox that its node could verify")
	case pod != nil && (pod.Node == "" || v.SameNode(e.Node, pod.Node)):
		return nil, refuse("run plumbline check again", "its pod is now on %s", cmp.Or(pod.Node, "no node yet"))
	}
	for sandbox := range v.SandboxesOf(e.Namespace, e.Pod) {
		if sandbox.ID == e.ContainerID && (sandbox.Ready || sandbox.Inode != 0) {
			return nil, refuse("find out why the sandbox exists, and which nodename the CNI configuration of "+sandbox.Node+" has", "its sandbox exists on %s", sandbox.Node)
		}
	}
	d := &change.NotInUse{Containers: []string{e.ContainerID}, Nodes: []string{node.Name}, All: b.nodes.renamed}
	if pod == nil {
		d.Gone = []change.PodIs{{Namespace: e.Namespace, Name: e.Pod}}
	} else if !slices.Contains(d.Nodes, pod.Node) {
		d.Nodes = append(d.Nodes, pod.Node)
	}
	for _, name := range b.nodes.silent {
		if d.All || slices.Contains(d.Nodes, name) {
			return nil, refuse("make the agent on "+name+" answer", "live verification by the agent on %s is not possible", name)
		}
	}
	return d, nil
}

// ownHost reports that the Calico node of that name refers to a Kubernetes node of this
// cluster: one etcd may serve several clusters with equal node names.
func (b *builder) ownHost(name string) bool {
	return slices.ContainsFunc(b.view.Snapshot().Hosts, func(h model.Host) bool { return h.Name == name && h.Kubernetes != "" })
}

// endpointIn finds the endpoint of a finding. It looks up by pod first: there may be very many endpoints.
func (b *builder) endpointIn(f *finding.Finding) *model.Endpoint {
	for _, r := range f.About {
		ns, pod, ok := strings.Cut(r.Name, "/")
		if r.Kind != model.KindPod || !ok {
			continue
		}
		for e := range b.view.EndpointsOf(ns, pod) {
			if e.Ref() == f.Subject {
				return e
			}
		}
	}
	for _, row := range b.view.Find(model.Subject{Table: model.Endpoints, Ref: f.Subject}) {
		return b.view.Endpoint(row)
	}
	return nil
}
