package detect

import (
	"fmt"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// PL1005 finds blocks that lie where no block may lie.
var PL1005 = &Detector{
	Code: "PL1005", Title: "blocks overlap, lie outside every pool, or have the wrong size", Severity: finding.Info, Class: finding.Transient,
	Each:    []model.Table{model.Blocks},
	Needs:   []model.Table{model.Blocks, model.Pools},
	Applies: ipamMayBeCalicos, Since: "0.1", Run: misplacedBlock,
}

func misplacedBlock(p *Pass, _ model.Table, row int32) {
	b := p.Block(row)
	f := finding.Finding{Subject: b.Ref(), Node: b.Node()}
	for other := range p.BlocksAround(b.CIDR) {
		if other.CIDR.Masked() != b.CIDR.Masked() {
			f.Severity = finding.Error
			f.Summary = fmt.Sprintf("lies inside block %s: two nodes may give out the same address", other.CIDR)
			f.Evidence = []finding.Evidence{blockSays(b, "range "+b.CIDR.String()), blockSays(other, "range "+other.CIDR.String())}
			f.About = []model.Ref{other.Ref()}
			p.Report(f)
			return
		}
	}
	pool := p.PoolAround(b.CIDR)
	switch {
	case pool == nil:
		f.Summary = "lies outside every pool; what is held in it stays valid"
		f.Evidence = []finding.Evidence{blockSays(b, fmt.Sprintf("range %s, %d held", b.CIDR, len(b.Held)))}
	case pool.BlockSize != 0 && pool.BlockSize != b.CIDR.Bits():
		f.Summary = fmt.Sprintf("is not of the size of pool %s (/%d)", pool.Name, pool.BlockSize)
		f.Evidence = []finding.Evidence{blockSays(b, "range "+b.CIDR.String())}
	default:
		return
	}
	p.Report(f)
}
