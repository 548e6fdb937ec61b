package cluster

import (
	"cmp"
	"context"
	"net/netip"
	"net/url"
	"slices"
	"time"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/kube"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// A Scoped is a snapshot of what surrounds one pod or address: read by name, by selector and
// by computed block, so that it costs a dozen requests on a cluster of any size.
type Scoped struct {
	*Cluster
	s   *model.Snapshot
	err error
}

// OpenScoped opens a cluster and reads what is small and true of all of it.
func OpenScoped(ctx context.Context, o Options) (*Scoped, error) {
	c, err := connect(o)
	if err != nil {
		return nil, err
	}
	if err := c.find(ctx); err != nil {
		return nil, err
	}
	s := observe.Snapshot(ctx, c.o.Progress, append(c.calico.Config(), kube.Nodes{Client: c.client}, kube.Services{Client: c.client})...)
	return &Scoped{Cluster: c, s: s}, ctx.Err()
}

// Pod reads a pod, who else has its addresses, their IPAM records, and what the nodes
// concerned report about it. It gives what it claims; found is false if there is no such pod.
func (u *Scoped) Pod(ctx context.Context, namespace, name string) (claims []netip.Addr, found bool, err error) {
	ref := model.Ref{Kind: model.KindPod, Name: namespace + "/" + name}
	u.add(ctx, ref)
	if u.err != nil || len(u.s.Pods) == 0 {
		return nil, false, u.err
	}
	claims = slices.Clone(u.s.Pods[0].Claims())
	node := u.s.Pods[0].Node
	u.addAddresses(ctx, claims)
	if u.err != nil {
		return nil, false, u.err
	}
	u.addNodes(ctx, url.Values{"pod": {ref.Name}})
	read := observe.Snapshot(ctx, func(string, int, bool) {}, kube.Events{Client: u.client, Of: ref.Name})
	u.s.Events, u.s.Coverage = read.Events, append(u.s.Coverage, read.Coverage...)
	if node != "" { // what is wrong with its node is told with all pods there
		u.add(ctx, model.Ref{Kind: model.KindPodsOn, Name: node})
		u.addAstray(ctx, node)
	}
	return claims, true, u.err
}

// maxAstray is how many blocks that a node does not reach are read: one is enough to tell it.
const maxAstray = 8

// addAstray reads blocks of other nodes that the node does not reach; the affinities tell which blocks
// there are.
func (u *Scoped) addAstray(ctx context.Context, node string) {
	if u.fleet == nil || u.err != nil {
		return
	}
	if _, there := u.fleet.pods[node]; !there {
		return
	}
	all := slices.DeleteFunc(u.calico.Collectors(), func(c observe.Collector) bool { return !slices.Equal(c.Tables(), []model.Table{model.Affinities}) })
	read := observe.Snapshot(ctx, func(string, int, bool) {}, all...)
	u.s.Coverage = append(u.s.Coverage, read.Coverage...)
	astray := detect.Astray(model.Seal(observe.Patch(u.s)), node, func(yield func(netip.Prefix, string) bool) {
		for i := range read.Affinities {
			if a := &read.Affinities[i]; a.State == "confirmed" && a.Type != "virtual" && !yield(a.CIDR, a.Node) {
				return
			}
		}
	})
	var refs []model.Ref
	for _, cidr := range astray[:min(len(astray), maxAstray)] {
		refs = append(refs, model.Ref{Kind: model.KindBlock, Name: cidr.String()})
	}
	u.add(ctx, refs...)
}

// NodeOf is the node of a pod that was read; empty if it has none.
func (u *Scoped) NodeOf(pod model.Ref) string {
	for i := range u.s.Pods {
		if u.s.Pods[i].Ref() == pod {
			return u.s.Pods[i].Node
		}
	}
	return ""
}

// Address reads who has an address, its IPAM records, and what the nodes concerned report
// about it.
func (u *Scoped) Address(ctx context.Context, ip netip.Addr) error {
	u.addAddresses(ctx, []netip.Addr{ip})
	if u.err != nil {
		return u.err
	}
	u.addNodes(ctx, url.Values{"ip": {ip.String()}})
	return nil
}

// Handle reads an IPAM handle, the blocks that it names, who has its addresses, and what their
// nodes report. Blocks that a handle does not name are not read, except the one of every address
// found.
func (u *Scoped) Handle(ctx context.Context, id string) error {
	u.add(ctx, model.Ref{Kind: model.KindHandle, Name: id})
	var refs []model.Ref
	for i := range u.s.Handles {
		for _, b := range u.s.Handles[i].Blocks {
			refs = append(refs, model.Ref{Kind: model.KindBlock, Name: b.CIDR.String()})
		}
	}
	u.add(ctx, refs[:min(len(refs), 8*MaxOfHandle)]...)
	if u.err != nil {
		return u.err
	}
	var ips []netip.Addr
	for a := range model.Seal(observe.Patch(u.s)).AllocationsBy(id) {
		ips = append(ips, a.IP)
	}
	for _, ip := range ips[:min(len(ips), MaxOfHandle)] {
		if err := u.Address(ctx, ip); err != nil {
			return err
		}
	}
	return u.err
}

// MaxOfHandle is how many addresses of a handle are read in full: a pod has one or two, a
// handle of a LoadBalancer or a VM a few.
const MaxOfHandle = 8

// add reads refs of either book into the snapshot.
func (u *Scoped) add(ctx context.Context, refs ...model.Ref) {
	for _, l := range []observe.Rereader{kube.Rereader{Client: u.client}, u.calico} {
		if u.err != nil {
			return
		}
		var look observe.Reread
		if look, u.err = l.Reread(ctx, refs); u.err == nil {
			u.s = observe.Patch(u.s, look)
		}
	}
}

// addAddresses reads who else has these addresses, and their blocks and handles.
func (u *Scoped) addAddresses(ctx context.Context, ips []netip.Addr) {
	var refs []model.Ref
	for _, ip := range ips {
		refs = append(refs, model.Ref{Kind: model.KindAddress, Name: ip.String()}, u.blockOf(ip))
	}
	u.add(ctx, refs...)
	refs = nil
	v := model.Seal(observe.Patch(u.s))
	for _, ip := range ips {
		for a := range v.AllocationsOf(ip) {
			at := v.AttributeOf(a)
			if at == nil {
				continue
			}
			if at.Handle != "" {
				refs = append(refs, model.Ref{Kind: model.KindHandle, Name: at.Handle})
			}
			if at.Pod != "" && v.PodByName(at.Namespace, at.Pod) == nil {
				refs = append(refs, model.Ref{Kind: model.KindPod, Name: at.Namespace + "/" + at.Pod})
			}
		}
	}
	slices.SortFunc(refs, func(a, b model.Ref) int { return cmp.Compare(a.String(), b.String()) })
	u.add(ctx, slices.Compact(refs)...)
	if u.Etcd() {
		refs = nil
		v = model.Seal(observe.Patch(u.s))
		for i := range u.s.Pods {
			refs = append(refs, model.Ref{Kind: model.KindEndpoint, Name: model.EndpointName(v.CalicoName(u.s.Pods[i].Node), &u.s.Pods[i])})
		}
		u.add(ctx, refs...)
	}
}

// addNodes asks nodes about a pod or an address: those of the pods at hand, those that the
// ledger names for it, and where neither names one, all.
func (u *Scoped) addNodes(ctx context.Context, query url.Values) {
	if u.fleet == nil || u.err != nil {
		return
	}
	var nodes []string
	add := func(n string) {
		if _, there := u.fleet.pods[n]; there && !slices.Contains(nodes, n) {
			nodes = append(nodes, n)
		}
	}
	for i := range u.s.Pods {
		add(u.s.Pods[i].Node)
	}
	for i := range u.s.Blocks {
		b := &u.s.Blocks[i]
		add(b.Node())
		for j := range b.Attributes {
			add(b.Attributes[j].Node)
		}
	}
	if len(nodes) == 0 {
		nodes = u.fleet.Nodes
	}
	u.s.PutFacts(u.fleet.About(ctx, nodes, query))
}

// maxRouteChanges is how many changes of the routes to one address are told.
const maxRouteChanges = 3

// RouteChanges are the last changes of a node's routes to addresses of its pods, as its agent
// recorded them.
func (u *Scoped) RouteChanges(ctx context.Context, node string, ips []netip.Addr) (out []agent.RouteChange, err error) {
	if u.fleet == nil || node == "" {
		return nil, nil
	}
	for _, ip := range ips[:min(len(ips), 2)] {
		all, err := u.fleet.RouteChanges(ctx, node, ip)
		if err != nil {
			return out, err
		}
		out = append(out, all[max(0, len(all)-maxRouteChanges):]...)
	}
	return out, nil
}

// blockOf computes which block an address lies in, from its pool.
func (u *Scoped) blockOf(ip netip.Addr) model.Ref {
	bits := model.DefaultBlockSize(ip)
	best := -1
	for _, p := range u.s.Pools {
		if p.CIDR.Contains(ip) && p.CIDR.Bits() > best && p.BlockSize > 0 {
			best, bits = p.CIDR.Bits(), p.BlockSize
		}
	}
	p, err := ip.Prefix(bits)
	if err != nil {
		return model.Ref{Kind: model.KindBlock, Name: ip.String()}
	}
	return model.Ref{Kind: model.KindBlock, Name: p.String()}
}

// wholeNode are the codes about a whole node, or all of them, that what is read here is enough for.
var wholeNode = []finding.Code{finding.PL3007, finding.PL3008, finding.PL4005, finding.PL4007, finding.PL4008, finding.PL4009, finding.PL5003, finding.PL5005, finding.PL9001, finding.PL9003}

// Judge gives what is wrong about the given objects, and with a whole node, if one is named. All that
// matters of them was read, so their tables count as read; nothing is concluded about anything else.
func (u *Scoped) Judge(ctx context.Context, settle time.Duration, node string, about ...model.Ref) *audit.Report {
	endpoints := model.NotThere
	if u.Etcd() {
		endpoints = model.Complete
	}
	for _, t := range []model.Table{model.Pods, model.PodPhase, model.PodNode, model.PodStatus, model.Blocks, model.Handles, model.HandleCounts} {
		u.s.Coverage = append(u.s.Coverage, model.Coverage{Table: t, State: model.Complete})
	}
	u.s.Coverage = append(u.s.Coverage, model.Coverage{Table: model.Endpoints, State: endpoints})
	if !u.Etcd() { // Calico's nodes are those of Kubernetes
		u.s.Coverage = append(u.s.Coverage, model.Coverage{Table: model.Hosts, State: model.NotThere})
	}
	return audit.Judge(ctx, u.s, audit.Source{}, audit.Options{
		Detectors: detect.All, Settle: settle, Recall: u.o.recall,
		Keep: func(x *finding.Finding) bool {
			return node != "" && (x.Node == node || x.Node == "") && slices.Contains(wholeNode, x.Code) ||
				slices.ContainsFunc(x.About, func(r model.Ref) bool { return slices.Contains(about, r) })
		},
	})
}

// Policies are the policies that may concern a pod.
type Policies = kube.Policies

// Policies reads the policies that may concern a pod. Those of Calico in etcd are not read.
func (u *Scoped) Policies(ctx context.Context, namespace, name string) (Policies, error) {
	group := ""
	if len(u.s.Info) > 0 && !u.Etcd() {
		group = u.s.Info[0].Group
	}
	return u.client.PoliciesOf(ctx, namespace, name, group)
}
