package detect

import (
	"fmt"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// PL1009 finds pools, and nodes under strict affinity, that are nearly full.
var PL1009 = &Detector{
	Code: finding.PL1009, Title: "pool or node nearly out of addresses", Severity: finding.Warning, Class: finding.Now,
	Each:    []model.Table{model.Pools, model.Nodes},
	Needs:   []model.Table{model.Pools, model.Blocks, model.Nodes},
	Uses:    []model.Table{model.Cluster, model.Hosts, model.Pods, model.PodPhase, model.PodNode, model.Reservations},
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
		if pool.Disabled || pool.ForCertain() {
			return
		}
		u, size := p.PoolUse(row), model.Size(pool.CIDR, 1<<30)
		of := "of pool " + pool.Name + " (" + pool.CIDR.String() + ")"
		if kept, held := p.Kept(pool.CIDR); kept > held {
			size -= kept - held // as if they were not there
			of += fmt.Sprintf(", without %d that IPReservations keep,", kept-held)
		}
		reportFull(p, pool.Ref(), "", u.Held, size, of)
		return
	}
	// Without strict affinity a node can borrow from every block.
	info := p.Info()
	if !info.StrictAffinity {
		return
	}
	n := p.Node(row)
	for _, six := range []bool{false, true} { // a pod of a dual-stack cluster needs one of each
		if nodeFull(p, n, six) {
			return
		}
	}
}

// nodeFull reports a node that has no address of a family left, or few, under strict affinity.
func nodeFull(p *Pass, n *model.Node, six bool) bool {
	most := p.Info().MaxBlocks
	if most == 0 {
		most = 20
	}
	name := p.CalicoName(n.Name)
	u, other := p.NodeUseOf(name, six), p.NodeUseOf(name, !six)
	if six && u.Blocks == 0 || u.Blocks == 0 && other.Blocks > 0 {
		return false // it is not known that its pods need that family
	}
	of := ""
	if other.Blocks > 0 {
		of = family(!six) + " "
	}
	size := u.Size - keptIn(p, name, six)
	if u.Blocks >= most {
		return reportFull(p, n.Ref(), n.Name, u.Held, size, fmt.Sprintf("of the %s that %s may have", count(most, of+"block", of+"blocks"), n.Name))
	}
	if u.Held < size || !usesIPAM(p, n, u) || blockFree(p, six) {
		return false
	}
	p.Report(finding.Finding{
		Subject: n.Ref(), Node: n.Name, Severity: finding.Error,
		Summary:  fmt.Sprintf("no %saddress is free on it, and no pool has a free block: no pod can start there (strictAffinity, %s)", of, count(u.Blocks, of+"block", of+"blocks")),
		Evidence: []finding.Evidence{{Ref: n.Ref(), Says: "no address is free, and no block"}},
	})
	return true
}

// keptIn counts the addresses of a node's blocks that IPReservations keep and that are not allocated.
func keptIn(p *Pass, node string, six bool) (n int) {
	if len(p.Snapshot().Reservations) == 0 {
		return 0
	}
	for row := range int32(p.Rows(model.Blocks)) {
		if b := p.Block(row); b.Node() == node && b.CIDR.Addr().Is6() == six {
			n += p.KeptIn(b)
		}
	}
	return n
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

// blockFree reports whether a node may be able to claim a block of a family: an enabled pool has room for one, or selects nodes by
// labels, which are not read. One that is only for pods which name it has none.
func blockFree(p *Pass, six bool) bool {
	for row := range int32(p.Rows(model.Pools)) { // a cluster has a few
		pool := p.Pool(row)
		if pool.Disabled || pool.CIDR.Addr().Is6() != six || !pool.Serves("Workload") || pool.OnRequest() {
			continue
		}
		bits := pool.BlockSize - pool.CIDR.Bits()
		if bits < 0 || bits > 30 || p.PoolUse(row).Blocks < 1<<bits || pool.Selector != "" && pool.Selector != "all()" {
			return true
		}
	}
	return false
}

func reportFull(p *Pass, subject model.Ref, node string, held, size int, of string) bool {
	if size < 0 || size == 0 && held == 0 || held*100 < size*warnAt {
		return false
	}
	f := finding.Finding{Subject: subject, Node: node, Class: finding.Now, Summary: fmt.Sprintf("%d of %d addresses %s are allocated", held, size, of)}
	if held*100 >= size*errorAt {
		f.Severity = finding.Error
	}
	f.Evidence = []finding.Evidence{{Ref: subject, Says: fmt.Sprintf("%d%% used", held*100/max(1, size))}}
	p.Report(f)
	return true
}
