package repair

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/model"
)

// nodeVerifiers is what is known of all nodes, looked up once.
type nodeVerifiers struct {
	known   bool
	renamed bool                        // some node calls itself by a name that is not its own
	silent  []string                    // nodes that cannot be asked
	mute    map[string]bool             // the same
	shown   map[netip.Addr][]*model.Pod // every pod that shows an address, also one that has finished
}

// outOfService is what a person puts on a node that is down for good.
const outOfService = "node.kubernetes.io/out-of-service"

// dead is the proof that nobody uses what is held: which nodes must say so (R10). The node
// in the record is not enough, for it is the very thing that may be wrong. Why is not empty
// if that proof cannot be had.
func (b *builder) notInUse(held []*model.Allocation) (d NotInUse, why, advice string) {
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
		// Kubernetes' word on where the pod is which the record names: its next sandbox may
		// be in the making there, whatever that node calls itself.
		if pod := b.view.PodByName(at.PodName()); pod != nil && pod.Node != "" && !pod.Finished() {
			add(pod.Node)
		}
		if e := b.endpointWith(a.IP); e != nil {
			add(e.Node)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(gone)) {
		if !slices.Contains(b.o.NodeGone, name) {
			return d, "node " + name + " has no Node object, which does not prove that it is down", "if it will not come back, say --node-gone " + name + "; or leave it to Calico's collector"
		}
		d.Absent, d.All = append(d.Absent, model.Ref{Kind: model.KindNode, Name: name}), true
	}
	if why, advice := b.chooseVerifiers(&d, nodes); why != "" {
		return d, why, advice
	}
	slices.SortFunc(d.IPs, netip.Addr.Compare)
	slices.Sort(d.Containers)
	return d, "", ""
}

// chooseVerifiers names the nodes that must bear witness. For one that a person has put out of
// service all the others do.
func (b *builder) chooseVerifiers(d *NotInUse, must map[string]bool) (why, advice string) {
	excused := false
	for _, name := range slices.Sorted(maps.Keys(must)) {
		switch silent := b.nodes.mute[name]; {
		case silent && downForGood(b.view.NodeByName(name)):
			excused = true
		case silent:
			return "node " + name + " cannot be asked", "get its agent to answer; if it is down for good, taint it " + outOfService
		default:
			d.Nodes = append(d.Nodes, name)
		}
	}
	switch silent := b.unverifiable(); {
	case d.All && silent != "":
		return "every node must be asked, and " + silent + " cannot be", "get the agents to answer"
	case !excused:
		return "", ""
	}
	d.Nodes = nil
	for i := range int32(b.view.Rows(model.Nodes)) {
		switch n := b.view.Node(i); {
		case !b.nodes.mute[n.Name]:
			d.Nodes = append(d.Nodes, n.Name)
		case !downForGood(n):
			return "every other node must be asked, and " + n.Name + " cannot be", "get its agent to answer"
		}
	}
	return "", ""
}

// look finds out, once, which nodes cannot be asked, whether any calls itself by a name
// that is not its own, and who shows which address.
func (b *builder) surveyNodes() {
	w := &b.nodes
	if w.known {
		return
	}
	w.known, w.mute, w.shown = true, map[string]bool{}, map[netip.Addr][]*model.Pod{}
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

// asked tells that a node's agent showed all that a witness speaks of.
func (b *builder) canVerify(node string) bool {
	return b.view.Sees(node, model.Sandboxes, model.Attachments, model.Processes)
}

// calicoNamesOf gives the names under which a node's own Calico writes to the ledger.
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

func downForGood(n *model.Node) bool {
	return slices.ContainsFunc(n.Taints, func(t string) bool { return strings.HasPrefix(t, outOfService+":") })
}

// unverifiable names the nodes that cannot be asked; empty if all can.
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
