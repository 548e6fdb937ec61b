package execute

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair/change"
)

// A demand is what must be verified for one finding because of what a write does to the object as
// it is now.
type demand struct {
	freed, moved *change.NotInUse // addresses that become free, and that another container gets
	acted        *change.NotInUse // what a change on a node must not meet
	given        []*change.RunningPod
	refused      string // why it must not be written, whatever the nodes say
}

func (d *demand) proofs() []*change.Proof {
	var out []*change.Proof
	for _, n := range []*change.NotInUse{d.freed, d.moved, d.acted} {
		if n != nil {
			out = append(out, &change.Proof{NotInUse: n})
		}
	}
	for _, l := range d.given {
		out = append(out, &change.Proof{Running: l})
	}
	return out
}

// derive gives, by finding, what must be verified before a write. It reads live which nodes could
// use the addresses that the write takes: a plan is a request, and its own proofs can only add to
// these. The nodes are: those that Calico may call by the name in the allocation or in the block's
// affinity, those of all pods that have the address in their status, that of the pod that the
// allocation names, and those that had it when they told their names; all nodes if the allocation
// names no container or no node, or if one of those nodes is out of service.
func (x *Executor) derive(ctx context.Context, e *change.Edited) (map[string]*demand, error) {
	out := map[string]*demand{}
	of := func(f string) *demand {
		if out[f] == nil {
			out[f] = &demand{}
		}
		return out[f]
	}
	var all []string
	x.excused = map[string]bool{}
	if len(e.Takes)+len(e.Ends) > 0 {
		var err error
		if all, err = x.survey(ctx); err != nil {
			return nil, err
		}
	}
	for i := range e.Takes {
		t := &e.Takes[i]
		if err := x.take(ctx, of(t.For), t, all); err != nil {
			return nil, err
		}
	}
	for i := range e.Ends {
		x.end(ctx, of(e.Ends[i].For), &e.Ends[i], all)
	}
	for i := range e.Gives {
		g := &e.Gives[i]
		if err := x.give(ctx, of(g.For), g); err != nil {
			return nil, err
		}
	}
	if e.Acts != nil {
		for _, f := range e.For {
			if err := x.act(ctx, of(f), f, e); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// take adds what must be verified before an address is taken.
func (x *Executor) take(ctx context.Context, d *demand, t *change.Taking, all []string) error {
	n := &d.freed
	if !t.Free {
		n = &d.moved
	}
	if *n == nil {
		*n = &change.NotInUse{}
		if !t.Free {
			(*n).Except = x.receivers(t.For)
		}
	}
	unused := *n
	unused.IPs = append(unused.IPs, t.IP)
	pods, err := x.claimants(ctx, t)
	if err != nil {
		return err
	}
	for _, p := range pods {
		switch {
		case t.Free && len(change.Claims(&p.PodBody, []netip.Addr{t.IP})) > 0:
			d.refused = fmt.Sprintf("%s has %s in its status or annotation", p.name, t.IP)
		case p.Deleted && !t.Free && p.ContainerID != "": // it gives the address up by itself
			unused.Except = append(unused.Except, p.ContainerID)
		}
		if p.Node != "" {
			x.must(ctx, unused, all, p.Node)
		}
	}
	id := t.Container()
	switch {
	case id == "" || t.From.Node == "" || t.From.Service != "":
		unused.All = true
	case !slices.Contains(unused.Except, id) && !slices.Contains(unused.Containers, id):
		unused.Containers = append(unused.Containers, id)
	}
	if owner := lasting(t); owner != (model.Ref{}) && !slices.Contains(unused.Absent, owner) {
		unused.Absent = append(unused.Absent, owner)
	}
	x.must(ctx, unused, all, x.seen(all, &change.NotInUse{IPs: []netip.Addr{t.IP}, Containers: unused.Containers, Except: unused.Except})...)
	for _, name := range []string{t.From.Node, t.Node} {
		if name == "" || name == t.From.Node && t.From.Service != "" {
			continue
		}
		x.mustAs(ctx, d, unused, all, t.For, name, !t.Free)
	}
	return nil
}

// end adds what must be verified before what a sandbox has is deleted.
func (x *Executor) end(ctx context.Context, d *demand, e *change.Ending, all []string) {
	if d.freed == nil {
		d.freed = &change.NotInUse{}
	}
	if !slices.Contains(d.freed.Containers, e.Container) {
		d.freed.Containers = append(d.freed.Containers, e.Container)
	}
	x.must(ctx, d.freed, all, x.seen(all, &change.NotInUse{Containers: []string{e.Container}})...)
	x.mustAs(ctx, d, d.freed, all, e.For, e.Node, false)
}

// mustAs adds the nodes that Calico may call by a name. If none is called so, all must verify, and the user
// must have said that the node is gone. With custom resources a node is called by the name of its Node object: if
// there is none, another node that claims the name (a cloned disk) does not stand for the machine that had it.
// An address that moves to a pod that is verified to run with it is not freed: there the claim of the name is what
// made the record wrong, and all nodes verify.
func (x *Executor) mustAs(ctx context.Context, d *demand, unused *change.NotInUse, all []string, finding, name string, moves bool) {
	nodes, there := x.called(all, name)
	x.must(ctx, unused, all, nodes...)
	switch {
	case there && (x.Etcd || slices.Contains(all, name)):
		return
	case there && moves:
		unused.All = true
		return
	}
	gone := model.Ref{Kind: model.KindNode, Name: name}
	if !x.declaredGone(finding, gone) {
		d.refused = "node " + name + " has no Node object, but its pods may still run"
	}
	unused.All, unused.Absent = true, append(unused.Absent, gone)
}

// lasting is the owner of an address that has it also while no node shows it: a Service, or a virtual
// machine, which may be stopped.
func lasting(t *change.Taking) model.Ref {
	at := &t.From
	switch vm := at.Machine(); {
	case !t.Free:
		return model.Ref{} // the running pod that gets it may be the machine's own
	case at.Service != "":
		return model.Ref{Kind: model.KindService, Name: at.Namespace + "/" + at.Service}
	case vm != "":
		return model.Ref{Kind: model.KindVM, Name: at.Namespace + "/" + vm}
	default:
		return model.Ref{}
	}
}

// must adds nodes whose agents must verify. The silence of a node that is out of service is
// tolerated: then all others must.
func (x *Executor) must(ctx context.Context, d *change.NotInUse, all []string, nodes ...string) {
	for _, node := range nodes {
		if n := x.names[node]; n != nil && n.silent && x.outOfService(ctx, node) {
			x.excused[node], d.All = true, true
			for _, other := range all { // which all must verify now, but those that are down too
				if o := x.names[other]; o != nil && o.silent && !x.excused[other] && x.outOfService(ctx, other) {
					x.excused[other] = true
				}
			}
		}
		if !slices.Contains(d.Nodes, node) && (slices.Contains(all, node) || !x.excused[node]) {
			d.Nodes = append(d.Nodes, node)
		}
	}
}

// outOfService reads live whether a person declared the node down permanently, and it is.
func (x *Executor) outOfService(ctx context.Context, node string) bool {
	o, err := x.Kube.Get(ctx, model.Ref{Kind: model.KindNode, Name: node})
	var n model.NodeBody
	return err == nil && o.There() && json.Unmarshal(o.Body, &n) == nil && n.OutOfService(model.At(x.Now()))
}

// declaredGone reports that the user declared the node gone: the plan says that its Node object
// must not exist, which is verified.
func (x *Executor) declaredGone(finding string, node model.Ref) bool {
	t := x.targets[finding]
	return t != nil && t.Proof.NotInUse != nil && slices.Contains(t.Proof.NotInUse.Absent, node)
}

// receivers are the containers that may have an address that the finding moves: that of its
// running pod, and those that the plan evicts.
func (x *Executor) receivers(finding string) []string {
	var out []string
	if t := x.targets[finding]; t != nil && t.Proof.Running != nil {
		out = append(out, t.Proof.Running.Container)
	}
	for i := range x.plan.Steps {
		if e, ok := x.plan.Steps[i].Change.(*change.Evict); ok && x.plan.Steps[i].Serves(finding) {
			out = append(out, e.Has.Container)
		}
	}
	return out
}

// A claimant is a pod, read live.
type claimant struct {
	name string
	model.PodBody
}

// claimants gives the pod that the allocation names, and every pod with the address in its status.
func (x *Executor) claimants(ctx context.Context, t *change.Taking) ([]claimant, error) {
	found, err := x.Pods.PodsWith(ctx, t.IP)
	if err != nil {
		return nil, fmt.Errorf("list pods with %s: %w", t.IP, err)
	}
	if ns, name := t.From.PodName(); name != "" {
		o, err := x.Kube.Get(ctx, podRef(ns, name))
		if err != nil {
			return nil, err
		}
		if o.There() && !slices.ContainsFunc(found, func(have model.Object) bool { return have.Ref == o.Ref }) {
			found = append(found, o)
		}
	}
	var out []claimant
	for _, o := range found {
		p, err := change.ReadPod(o)
		if err != nil {
			return nil, err
		}
		if !p.Finished() && !p.HostNetwork {
			out = append(out, claimant{o.Ref.Name, p})
		}
	}
	return out, nil
}

// give adds what must be verified before an address is recorded for a pod: it runs with it.
func (x *Executor) give(ctx context.Context, d *demand, g *change.Giving) error {
	o, err := x.Kube.Get(ctx, podRef(g.Namespace, g.Pod))
	if err != nil {
		return err
	}
	p, err := change.ReadPod(o)
	if err != nil || !o.There() || p.Node == "" {
		d.refused = fmt.Sprintf("%s would be recorded for %s/%s, which is not running", g.IP, g.Namespace, g.Pod)
		return nil
	}
	l := &change.RunningPod{Namespace: g.Namespace, Pod: g.Pod, Node: p.Node, Container: g.Container, Among: true}
	l.IPs = append(l.IPs, g.IP)
	d.given = append(d.given, l)
	return nil
}
