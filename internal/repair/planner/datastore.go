package planner

import (
	"fmt"
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
)

// An ownership is the evidence that a Calico datastore describes this cluster. Custom resources
// come from the API server of the pods; an etcd is named by whoever runs the command, and the
// records of another cluster look leaked against the pods of this one.
type ownership struct {
	running   int // sandboxes that run on the nodes that were read
	recorded  int // of these, those whose container IPAM has a handle of
	handles   int // handles of containers
	endpoints int // nodes whose CNI configuration names one of the endpoints that were read
	others    int // nodes whose CNI configuration names only other endpoints
	addresses int // nodes whose address in Calico is theirs
	strangers int // nodes whose address in Calico is on none of their interfaces
	foreign   string
}

// RefusedDatastore returns why nothing is written to the datastore: the nodes use another one,
// or it is an etcd and there is no proof that it is this cluster's. Nil: it is.
//
// A container ID is random, so an etcd with the handles of the containers that run here has been
// written by this cluster. Half of them are asked for, and nearly all if every node's CNI
// configuration names other endpoints: it may be a stale copy that nobody writes to. After a
// restore it may have fewer. Then, or if it has no handles at all, the CNI configuration and the
// addresses of the nodes must agree too.
func RefusedDatastore(v *model.View) *repair.Refusal {
	info := v.Info()
	o := evidenceOf(v)
	refuse := func(format string, args ...any) *repair.Refusal {
		return &repair.Refusal{Why: fmt.Sprintf(format, args...), Advice: "check that --etcd-endpoints and --context name the same cluster; until that is proven Plumbline only reads"}
	}
	if o.foreign != "" {
		return refuse("%s, and %s was read", o.foreign, datastoreNamed(info.Datastore))
	}
	if info.Datastore != "etcd" {
		return nil
	}
	agree := o.endpoints > 0 && o.others == 0 && o.addresses > 0 && o.strangers*5 <= o.addresses
	switch {
	case o.running > 0 && o.recorded*2 >= o.running && (o.endpoints > 0 || o.others == 0):
		return nil
	case o.running > 0 && o.recorded*20 >= o.running*19: // read through a tunnel: a stale copy would lack the newest
		return nil
	case agree && (o.recorded > 0 || o.handles == 0):
		return nil
	case o.running > 0 && o.recorded == 0 && o.handles > 0:
		return refuse("the etcd is not this cluster's: none of the %s that run here has a handle in it, and none of its %s is of one of them", plural(o.running, "sandbox", "sandboxes"), plural(o.handles, "handle", "handles"))
	case o.running > 0:
		return refuse("it is not proven that the etcd is this cluster's: %d of %s that run here have a handle in it", o.recorded, plural(o.running, "sandbox", "sandboxes"))
	default:
		return refuse("it is not proven that the etcd is this cluster's: no sandbox that runs was read, and the CNI configuration and the addresses of the nodes do not prove it")
	}
}

func evidenceOf(v *model.View) ownership {
	var o ownership
	recorded := map[string]bool{}
	for i := range int32(v.Rows(model.Handles)) {
		if id := model.ContainerOf(v.Handle(i).ID); id != "" {
			recorded[id] = true
		}
	}
	o.handles = len(recorded)
	for i := range int32(v.Rows(model.Sandboxes)) {
		if s := v.Sandbox(i); s.Ready && !s.HostNetwork {
			o.running++
			if recorded[s.ID] {
				o.recorded++
			}
		}
	}
	for i := range int32(v.Rows(model.Nodes)) {
		n := v.Node(i)
		o.config(v, n)
		o.address(v, n)
	}
	return o
}

// config compares which datastore the node's CNI plugin uses with the one that was read.
func (o *ownership) config(v *model.View, n *model.Node) {
	c := v.CNISetupOn(n.Name).Calicos
	if c == nil {
		return
	}
	info, read := v.Info(), v.Snapshot().Meta.Endpoints
	switch {
	case c.Datastore == "":
	case c.Datastore != info.Datastore && o.foreign == "":
		o.foreign = fmt.Sprintf("the CNI configuration on %s uses %s as Calico's datastore", n.Name, datastoreNamed(c.Datastore))
	case len(c.Endpoints) == 0 || len(read) == 0:
	case slices.ContainsFunc(c.Endpoints, func(e string) bool { return slices.Contains(read, e) }):
		o.endpoints++
	default:
		o.others++
	}
}

// address compares the node's address in Calico with those of its interfaces.
func (o *ownership) address(v *model.View, n *model.Node) {
	ips := v.CalicoIPsOf(n)
	switch {
	case len(ips) == 0 || !v.Sees(n.Name, model.Links):
	case slices.ContainsFunc(ips, func(ip netip.Addr) bool { return v.HasAddress(n.Name, ip) }):
		o.addresses++
	default:
		o.strangers++
	}
}

func datastoreNamed(kind string) string {
	if kind == "etcd" {
		return "an etcd"
	}
	return "the Kubernetes API"
}
