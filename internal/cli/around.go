package cli

import (
	"cmp"
	"context"
	"net/netip"
	"net/url"
	"slices"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/kube"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// A close-up is a snapshot of what surrounds one pod or address: read by name, by
// selector and by computed block, so that explain costs a dozen requests on any cluster.
type scoped struct {
	c   *cluster
	s   *model.Snapshot
	err error
}

func (g *global) scoped(ctx context.Context) (*scoped, error) {
	client, err := kube.Connect(g.kube)
	if err != nil {
		return nil, err
	}
	c := &cluster{client: client, close: func() {}}
	if err := g.findCalico(ctx, c); err != nil {
		return nil, err
	}
	if err := g.findAgents(ctx, c); err != nil {
		return nil, err
	}
	tell, done := g.progress()
	defer done()
	s := observe.Snapshot(ctx, tell, append(c.calicoSource.Config(), kube.Nodes{Client: client}, kube.Services{Client: client})...)
	return &scoped{c: c, s: s}, ctx.Err()
}

// add reads refs of either book into the snapshot.
func (u *scoped) add(ctx context.Context, refs ...model.Ref) {
	for _, l := range []observe.Rereader{kube.Rereader{Client: u.c.client}, u.c.calicoSource} {
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
func (u *scoped) addAddresses(ctx context.Context, ips []netip.Addr) {
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
	if u.c.etcd() {
		refs = nil
		v = model.Seal(observe.Patch(u.s))
		for i := range u.s.Pods {
			refs = append(refs, model.Ref{Kind: model.KindEndpoint, Name: model.EndpointName(v.CalicoName(u.s.Pods[i].Node), &u.s.Pods[i])})
		}
		u.add(ctx, refs...)
	}
}

// addFacts asks nodes about a pod or an address: those of the pods at hand, those that the
// ledger names for it, and where neither names one, all.
func (u *scoped) addFacts(ctx context.Context, query url.Values) {
	if u.c.fleet == nil || u.err != nil {
		return
	}
	var nodes []string
	add := func(n string) {
		if _, there := u.c.fleet.pods[n]; there && !slices.Contains(nodes, n) {
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
		nodes = u.c.fleet.Nodes
	}
	u.s.PutFacts(u.c.fleet.About(ctx, nodes, query))
}

// blockOf computes which block an address lies in, from its pool.
func (u *scoped) blockOf(ip netip.Addr) model.Ref {
	bits := map[bool]int{true: 26, false: 122}[ip.Is4()]
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

// judge gives what is wrong about the given things. All that matters of them was read,
// so their tables count as seen; nothing is concluded about anything else.
func (u *scoped) judge(ctx context.Context, g *global, f explainFlags, about ...model.Ref) *audit.Report {
	endpoints := model.NotThere
	if u.c.etcd() {
		endpoints = model.Complete
	}
	for _, t := range []model.Table{model.Pods, model.PodPhase, model.PodNode, model.PodStatus, model.Blocks, model.Handles, model.HandleCounts} {
		u.s.Coverage = append(u.s.Coverage, model.Coverage{Table: t, State: model.Complete})
	}
	u.s.Coverage = append(u.s.Coverage, model.Coverage{Table: model.Endpoints, State: endpoints})
	return audit.Judge(ctx, u.s, audit.Source{}, audit.Options{
		Detectors: detect.All, Settle: f.settle.settle, Recall: g.recall,
		Keep: func(x *finding.Finding) bool {
			return slices.ContainsFunc(x.About, func(r model.Ref) bool { return slices.Contains(about, r) })
		},
	})
}
