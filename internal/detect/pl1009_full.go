package detect

import (
	"fmt"
	"slices"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// PL1009 finds pools, and nodes under strict affinity, that are nearly full.
var PL1009 = &Detector{
	Code: finding.PL1009, Title: "pool or node nearly out of addresses", Severity: finding.Warning, Class: finding.Now,
	Each:    []model.Table{model.Pools, model.Nodes},
	Needs:   []model.Table{model.Pools, model.Blocks, model.Nodes},
	Uses:    []model.Table{model.Cluster, model.Hosts, model.Pods, model.PodPhase, model.PodNode},
	Applies: ipamMayBeCalicos, Since: "0.1", Run: nearlyFull,
}

// Share of allocated addresses, in percent, from which a warning or an error is reported.
const (
	warnAt  = 85
	errorAt = 95
)

func nearlyFull(p *Pass, t model.Table, row int32) {
	if t == model.Pools {
		pool := p.Pool(row)
		if pool.Disabled {
			return
		}
		u := p.PoolUse(row)
		reportFull(p, pool.Ref(), "", u.Held, model.Size(pool.CIDR, 1<<30), "of pool "+pool.Name+" ("+pool.CIDR.String()+")")
		return
	}
	// Without strict affinity a node can borrow from every block.
	info := p.Info()
	if !info.StrictAffinity {
		return
	}
	n := p.Node(row)
	most := info.MaxBlocks
	if most == 0 {
		most = 20
	}
	u := p.NodeUse(p.CalicoName(n.Name))
	if u.Blocks < most {
		if u.Held == u.Size && usesIPAM(p, n, u) && !blockFree(p) {
			p.Report(finding.Finding{
				Subject: n.Ref(), Node: n.Name, Severity: finding.Error,
				Summary:  fmt.Sprintf("no address is free on it, and no pool has a free block: no pod can start there (strictAffinity, %s)", count(u.Blocks, "block", "blocks")),
				Evidence: []finding.Evidence{{Ref: n.Ref(), Says: "no address is free, and no block"}},
			})
		}
		return
	}
	reportFull(p, n.Ref(), n.Name, u.Held, u.Size, fmt.Sprintf("of the %d blocks that %s may have", most, n.Name))
}

// usesIPAM reports whether the node has blocks, or pods that need one.
func usesIPAM(p *Pass, n *model.Node, u model.Usage) bool {
	if u.Blocks > 0 || n.Virtual() || n.OS == "windows" {
		return u.Blocks > 0
	}
	for pod := range p.PodsOn(n.Name) {
		if pod.Networked() {
			return true
		}
	}
	return false
}

// blockFree reports whether a node may be able to claim a block: an enabled pool has room for one,
// or selects nodes by labels, which are not read.
func blockFree(p *Pass) bool {
	for row := range int32(p.Rows(model.Pools)) { // a cluster has a few
		pool := p.Pool(row)
		if pool.Disabled || len(pool.Uses) > 0 && !slices.Contains(pool.Uses, "Workload") {
			continue
		}
		bits := pool.BlockSize - pool.CIDR.Bits()
		if bits < 0 || bits > 30 || p.PoolUse(row).Blocks < 1<<bits || pool.Selector != "" && pool.Selector != "all()" {
			return true
		}
	}
	return false
}

func reportFull(p *Pass, subject model.Ref, node string, held, size int, of string) {
	if size == 0 || held*100 < size*warnAt {
		return
	}
	f := finding.Finding{Subject: subject, Node: node, Class: finding.Now, Summary: fmt.Sprintf("%d of %d addresses %s are allocated", held, size, of)}
	if held*100 >= size*errorAt {
		f.Severity = finding.Error
	}
	f.Evidence = []finding.Evidence{{Ref: subject, Says: fmt.Sprintf("%d%% used", held*100/size)}}
	p.Report(f)
}
