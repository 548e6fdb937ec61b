package planner

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/change"
)

// nodeVerifiers is what is known of all nodes. surveyNodes fills it once per plan.
type nodeVerifiers struct {
	known   bool                        // surveyNodes has run; the other fields are valid
	renamed bool                        // Calico on some node uses the name of another node
	silent  []string                    // nodes whose agents cannot verify, in the order of the view
	mute    map[string]bool             // the same nodes as silent
	shown   map[netip.Addr][]*model.Pod // pods by address in status or annotation, finished pods included

	homeless string // see builder.homeless
}

// notInUse gives what must be verified before allocations are released: which agents must
// verify that the addresses and containers are not in use. The node in the attribute alone is
// not enough: it may be wrong. So also: the node of the block, of every pod and endpoint with
// the address, and of the pod that the attribute names; and all nodes if a node uses another
// node's name, if the attribute has no node or no container, or if a node has no Node object.
// It refuses if that verification is not possible.
func (b *builder) notInUse(held []*model.Allocation) (d change.NotInUse, no *repair.Refusal) {
	b.surveyNodes()
	nodes, gone := map[string]bool{}, map[string]bool{}
	add := func(name string) {
		if n := b.view.NodeByName(name); n != nil {
			nodes[n.Name] = true
		} else {
			gone[name] = true
		}
	}
	d.All = b.nodes.renamed
	for _, a := range held {
		at, block := b.view.AttributeOf(a), b.view.BlockOf(a)
		id := model.ContainerOf(at.Handle)
		d.IPs = append(d.IPs, a.IP)
		if id == "" || at.Node == "" {
			d.All = true
		}
		if id != "" && !slices.Contains(d.Containers, id) {
			d.Containers = append(d.Containers, id)
		}
		if at.Node != "" && at.Service == "" {
			add(at.Node)
		}
		if n := block.Node(); n != "" {
			add(n)
		}
		for _, pod := range b.nodes.shown[a.IP] {
			if pod.Node != "" {
				add(pod.Node)
			}
		}
		// The node that runs the pod that the attribute names, from the API server: the pod's
		// next sandbox may be being created there, whatever name Calico uses on that node.
		if pod := b.view.PodByName(at.PodName()); pod != nil && pod.Node != "" && !pod.Finished() {
			add(pod.Node)
		}
		if e := b.endpointWith(a.IP); e != nil {
			add(e.Node)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(gone)) {
		if !slices.Contains(b.o.NodeGone, name) {
			return d, &repair.Refusal{Why: "node " + name + " has no Node object, but its pods may still run", Advice: "if the node is permanently removed, pass --node-gone " + name + "; or leave it to the IPAM garbage collector"}
		}
		d.Absent, d.All = append(d.Absent, model.Ref{Kind: model.KindNode, Name: name}), true
	}
	if no := b.chooseVerifiers(&d, nodes); no != nil {
		return d, no
	}
	slices.SortFunc(d.IPs, netip.Addr.Compare)
	slices.Sort(d.Containers)
	return d, nil
}

// chooseVerifiers sets d.Nodes to the nodes whose agents must verify. If one of must is
// tainted out-of-service and its agent does not answer, the agents on all other nodes must
// verify.
func (b *builder) chooseVerifiers(d *change.NotInUse, must map[string]bool) *repair.Refusal {
	excused := false
	for _, name := range slices.Sorted(maps.Keys(must)) {
		switch silent := b.nodes.mute[name]; {
		case silent && b.outOfService(b.view.NodeByName(name)):
			excused = true
		case silent:
			return &repair.Refusal{Why: "live verification by the agent on " + name + " is not possible", Advice: answerAdvice(b.view.NodeByName(name))}
		default:
			d.Nodes = append(d.Nodes, name)
		}
	}
	switch silent := b.unverifiable(); {
	case d.All && silent != "":
		return &repair.Refusal{Why: "the agents on all nodes must verify it; not possible on " + silent, Advice: "make these agents answer"}
	case !excused:
		return nil
	}
	d.Nodes = nil
	for i := range int32(b.view.Rows(model.Nodes)) {
		switch n := b.view.Node(i); {
		case !b.nodes.mute[n.Name]:
			d.Nodes = append(d.Nodes, n.Name)
		case !b.outOfService(n):
			return &repair.Refusal{Why: "the agents on all other nodes must verify it; not possible on " + n.Name, Advice: answerAdvice(n)}
		}
	}
	return nil
}

// outOfService reports whether a person has declared the node down permanently, and it is.
func (b *builder) outOfService(n *model.Node) bool {
	body := n.Body()
	return body.OutOfService(b.view.Snapshot().Meta.Taken)
}

// answerAdvice says how the silence of a node's agent ends. Only for a node that has stopped
// reporting does it name the taint, with which Kubernetes deletes the node's pods and detaches
// their volumes.
func answerAdvice(n *model.Node) string {
	if !n.Silent {
		return "the node " + n.Name + " runs, and its agent does not answer: check the agent's pod there"
	}
	return "make the agent on " + n.Name + " answer. If the machine is powered off for good, which its console must show, taint the node " +
		model.OutOfServiceTaint + "=:NoExecute; the taint counts when its kubelet has been silent for 5 minutes"
}

// surveyNodes fills b.nodes, once.
func (b *builder) surveyNodes() {
	w := &b.nodes
	if w.known {
		return
	}
	w.known, w.mute, w.shown = true, map[string]bool{}, map[netip.Addr][]*model.Pod{}
	w.homeless = b.findHomeless()
	for i := range int32(b.view.Rows(model.Nodes)) {
		n := b.view.Node(i)
		if !b.canVerify(n.Name) {
			w.silent, w.mute[n.Name] = append(w.silent, n.Name), true
			continue
		}
		for _, name := range b.calicoNamesOf(n.Name) {
			w.renamed = w.renamed || name != "" && !b.view.SameNode(name, n.Name)
		}
	}
	for i := range int32(b.view.Rows(model.Pods)) {
		pod := b.view.Pod(i)
		if pod.HostNetwork {
			continue
		}
		for _, ip := range pod.IPs {
			w.shown[ip] = append(w.shown[ip], pod)
		}
		for _, ip := range pod.Annotated {
			if !slices.Contains(pod.IPs, ip) {
				w.shown[ip] = append(w.shown[ip], pod)
			}
		}
	}
}

// canVerify reports that the agent on a node reported everything that a verification needs.
func (b *builder) canVerify(node string) bool {
	return b.view.Sees(node, model.Sandboxes, model.Attachments, model.Processes)
}

// calicoNamesOf gives the node names that Calico on a node writes into IPAM.
func (b *builder) calicoNamesOf(node string) []string {
	var names []string
	if m := b.view.MachineOf(node); m != nil {
		names = append(names, m.CalicoName)
	}
	if c := b.view.CNISetupOn(node).Calicos; c != nil {
		names = append(names, c.NodeName)
	}
	return names
}

// unverifiable names the nodes whose agents cannot verify; empty if there are none.
func (b *builder) unverifiable() string {
	b.surveyNodes()
	switch silent := b.nodes.silent; len(silent) {
	case 0:
		return ""
	case 1:
		return silent[0]
	default:
		return fmt.Sprintf("%s and %d more", slices.Min(silent), len(silent)-1)
	}
}
