package detect

import (
	"fmt"
	"slices"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// PL1008 finds tunnel addresses that Calico IPAM does not record for their node.
var PL1008 = &Detector{
	Code: finding.PL1008, Title: "tunnel address not recorded, or given to a pod", Severity: finding.Error, Class: finding.Teardown,
	Each:       []model.Table{model.Nodes},
	Needs:      []model.Table{model.Nodes, model.Allocations, model.Blocks, model.Pools, model.Hosts},
	ShadowedBy: []finding.Code{finding.PL2010},
	Applies:    ipamMayBeCalicos, Since: "0.1", Run: tunnel,
}

func tunnel(p *Pass, _ model.Table, row int32) {
	n := p.Node(row)
	for _, t := range p.TunnelsOf(n) {
		pool := p.PoolWith(t.IP)
		if pool == nil || slices.Contains(n.Addresses, t.IP) {
			continue // in no Calico pool, or the node's own address
		}
		f := finding.Finding{
			Subject: model.Ref{Kind: model.KindAddress, Name: t.IP.String()}, Node: n.Name,
			About:    []model.Ref{n.Ref()},
			Evidence: []finding.Evidence{nodeSays(n, fmt.Sprintf("%s tunnel has %s", t.Kind, t.IP))},
		}
		a := p.AllocationOf(t.IP)
		if a == nil {
			f.Summary = fmt.Sprintf("%s tunnel of %s; free in Calico IPAM: the next pod may get it", t.Kind, n.Name)
			f.Evidence = append(f.Evidence, freeSays(p, t.IP))
			p.Report(f)
			continue
		}
		at := p.AttributeOf(a)
		if at == nil || *at == (model.Attribute{}) || (at.Tunnel() && p.SameNode(at.Node, n.Name)) {
			continue
		}
		f.Summary = fmt.Sprintf("%s tunnel of %s; the IPAM record names another owner", t.Kind, n.Name)
		f.Evidence = append(f.Evidence, allocationSays(p, a))
		p.Report(f)
	}
}
