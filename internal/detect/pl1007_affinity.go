package detect

import (
	"fmt"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// PL1007 finds affinities and blocks that disagree about the owner of a block.
var PL1007 = &Detector{
	Code: finding.PL1007, Title: "affinity without block or node, or block and affinity disagree", Severity: finding.Warning, Class: finding.Transient,
	Each:    []model.Table{model.Affinities, model.Blocks},
	Needs:   []model.Table{model.Affinities, model.Blocks, model.Nodes, model.Hosts},
	Applies: ipamMayBeCalicos, Since: "0.1", Run: wrongAffinity,
}

func wrongAffinity(p *Pass, t model.Table, row int32) {
	if t == model.Blocks {
		blockWithoutAffinity(p, p.Block(row))
		return
	}
	a := p.Affinity(row)
	if a.Type == "virtual" || p.Stranger(a.Node) {
		return // Calico's load balancer is no node; a node of another cluster is not checked
	}
	b := p.BlockAt(a.CIDR)
	f := finding.Finding{Subject: a.Ref(), Node: a.Node, Evidence: []finding.Evidence{affinitySays(a)}}
	switch {
	case p.NodeByName(a.Node) == nil:
		f.Summary = "its node is gone"
		f.Class = finding.Leak // Calico's garbage collector removes it after its grace period
		f.Evidence = append(f.Evidence, noNode(a.Node))
		if b == nil {
			f.Summary += ", and its block does not exist: Calico never removes it"
		}
	case b == nil:
		f.Summary = "its block does not exist"
		f.Evidence = append(f.Evidence, finding.Evidence{Ref: model.Ref{Kind: model.KindBlock, Name: a.CIDR.String()}, Says: "no such block"})
	case b.Affinity != "host:"+a.Node:
		f.Summary = fmt.Sprintf("the block's affinity is %s: both nodes may advertise %s", orNone(b.Affinity), a.CIDR)
		f.Severity = finding.Error
		f.Evidence = append(f.Evidence, blockSays(b, "affinity "+orNone(b.Affinity)))
	case a.Deleted:
		f.Summary = "is marked deleted, but still exists"
	case a.State == "pending" || a.State == "pendingDeletion":
		f.Summary = "its state is " + a.State + " and was never completed"
	default:
		return
	}
	p.Report(f)
}

func blockWithoutAffinity(p *Pass, b *model.Block) {
	node := b.Node()
	if node == "" || p.Stranger(node) {
		return
	}
	for a := range p.AffinitiesOf(b.CIDR) {
		if a.Node == node {
			return
		}
	}
	p.Report(finding.Finding{
		Subject: b.Ref(), Node: node, Summary: fmt.Sprintf("names node %s, which has no affinity for it", node),
		Evidence: []finding.Evidence{
			blockSays(b, "affinity "+b.Affinity),
			{Ref: model.Ref{Kind: model.KindAffinity, Name: node + "/" + b.CIDR.String()}, Says: "no such affinity"},
		},
	})
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
