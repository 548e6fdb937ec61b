package detect

import (
	"fmt"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// PL1005 finds blocks that overlap, are outside every pool, or have the wrong size.
var PL1005 = &Detector{
	Code: finding.PL1005, Title: "blocks overlap, lie outside every pool, or have the wrong size", Severity: finding.Info, Class: finding.Transient,
	Each:       []model.Table{model.Blocks},
	Needs:      []model.Table{model.Blocks, model.Pools},
	ShadowedBy: []finding.Code{finding.PL1010},
	Applies:    ipamMayBeCalicos, Since: "0.1", Run: misplacedBlock,
}

func misplacedBlock(p *Pass, _ model.Table, row int32) {
	b := p.Block(row)
	f := finding.Finding{Subject: b.Ref(), Node: b.Node()}
	for other := range p.BlocksAround(b.CIDR) {
		if other.CIDR.Masked() != b.CIDR.Masked() {
			f.Severity = finding.Error
			f.Summary = fmt.Sprintf("overlaps block %s: two nodes may assign the same address", other.CIDR)
			f.Evidence = []finding.Evidence{blockSays(b, "CIDR "+b.CIDR.String()), blockSays(other, "CIDR "+other.CIDR.String())}
			f.About = []model.Ref{other.Ref()}
			p.Report(f)
			return
		}
	}
	pool := p.PoolAround(b.CIDR)
	switch {
	case pool == nil:
		f.Summary = "outside every pool: Calico has no route or tunnel to its addresses"
		f.Evidence = []finding.Evidence{blockSays(b, fmt.Sprintf("CIDR %s, %d allocated", b.CIDR, len(b.Held)))}
	case pool.BlockSize != 0 && pool.BlockSize != b.CIDR.Bits():
		f.Summary = fmt.Sprintf("does not have the block size of pool %s (/%d)", pool.Name, pool.BlockSize)
		f.Evidence = []finding.Evidence{blockSays(b, "CIDR "+b.CIDR.String())}
	default:
		return
	}
	p.Report(f)
}
