package detect

import (
	"fmt"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// PL1010 finds that all pools with addresses for pods are disabled, or that the pool of running pods
// is gone. While another one is left, a disabled pool is normal: its pods are being moved.
var PL1010 = &Detector{
	Code: finding.PL1010, Title: "no enabled pool has addresses for pods, or the pool of running pods is gone", Severity: finding.Error, Class: finding.Now,
	Each:    []model.Table{model.Pools, model.Cluster},
	Needs:   []model.Table{model.Cluster, model.Pools, model.Blocks, model.Pods, model.PodPhase, model.PodNode, model.PodStatus},
	Uses:    []model.Table{model.Allocations},
	Applies: ipamMayBeCalicos, Since: "0.3", Run: noPool,
}

func noPool(p *Pass, t model.Table, row int32) {
	if t == model.Cluster {
		poolGone(p)
		return
	}
	pool := p.Pool(row)
	held := p.PoolUse(row).Held
	if held == 0 || !pool.Disabled || !pool.Serves("Workload") {
		return
	}
	four := pool.CIDR.Addr().Is4()
	last, cut := !enabled(p, four, "Workload", ""), pool.Tunnel == "VXLAN" && !enabled(p, four, "Tunnel", "VXLAN")
	f := finding.Finding{
		Subject: pool.Ref(), Summary: "disabled",
		Evidence: []finding.Evidence{{Ref: pool.Ref(), Says: "disabled, with addresses in use", Revision: pool.Revision}},
	}
	if last {
		f.Summary += fmt.Sprintf(", and no other pool has %s addresses for pods: no pod can start", family(four))
		if enabled(p, !four, "Workload", "") { // that family may have been given up
			f.Summary, f.Severity = strings.TrimSuffix(f.Summary, "no pod can start")+"none that needs one can start", finding.Warning
		}
		f.Evidence = append(f.Evidence, finding.Evidence{Ref: pool.Ref(), Says: "no enabled pool for pods is left"})
	}
	if cut {
		if !last {
			f.Summary += ", and no other pool uses VXLAN"
		}
		where := "other nodes"
		if f.Severity = finding.Error; pool.Mode == "CrossSubnet" {
			where = "nodes in other subnets, if there are any"
			if !last {
				f.Severity = finding.Warning
			}
		}
		f.Summary += "; nodes give their tunnel addresses back, so pods do not reach those of " + where
		f.Evidence = append(f.Evidence, finding.Evidence{Ref: pool.Ref(), Says: "no enabled pool for tunnels of VXLAN is left"})
		f.About = inPool(p, pool)
	}
	if last || cut {
		p.Report(f)
	}
}

// inPool are the blocks of a pool, and the running pods with addresses of them.
func inPool(p *Pass, pool *model.Pool) (out []model.Ref) {
	for row := range int32(p.Rows(model.Blocks)) {
		if b := p.Block(row); !b.Deleted && p.PoolAround(b.CIDR) == pool {
			out = append(append(out, b.Ref()), runningIn(p, b)...)
		}
	}
	return out
}

// withoutPool is the subject of blocks whose pool is gone: it has no name any more.
var withoutPool = model.Ref{Kind: model.KindCluster, Name: "no-pool"}

// poolGone reports blocks of running pods that are in no pool: Felix and BIRD remove the routes to
// them, and the tunnel with the last pool that uses it.
func poolGone(p *Pass) {
	f := finding.Finding{Subject: withoutPool, Class: finding.Transient} // it may be about to be created anew
	blocks, pods := 0, map[model.Ref]bool{}
	for row := range int32(p.Rows(model.Blocks)) {
		b := p.Block(row)
		if b.Deleted || p.PoolAround(b.CIDR) != nil { // calicoctl removes the affinities together with the pool
			continue
		}
		in := runningIn(p, b)
		if len(in) == 0 {
			continue
		}
		if blocks++; blocks <= 3 {
			f.Evidence = append(f.Evidence, finding.Evidence{Ref: b.Ref(), Says: "has addresses of running pods, and is in no pool", Revision: b.Revision})
		}
		f.About = append(f.About, b.Ref())
		for _, pod := range in {
			if !pods[pod] {
				pods[pod] = true
				f.About = append(f.About, pod)
			}
		}
	}
	if blocks == 0 {
		return
	}
	f.Summary = fmt.Sprintf("the pool of %s is gone: Calico removes the routes to %s, and other nodes do not reach them", count(len(pods), "running pod", "running pods"), count(blocks, "block", "blocks"))
	p.Report(f)
}

// runningIn are the running pods with addresses of a block, as it records them.
func runningIn(p *Pass, b *model.Block) (out []model.Ref) {
	for _, s := range b.Held {
		if s[1] < 0 || int(s[1]) >= len(b.Attributes) {
			continue
		}
		ns, name := b.Attributes[s[1]].PodName()
		if pod := p.PodByName(ns, name); pod != nil && pod.Networked() && pod.Phase == model.Running && slices.ContainsFunc(pod.IPs, b.CIDR.Contains) {
			out = append(out, pod.Ref())
		}
	}
	return out
}

// enabled reports whether an enabled pool of a family has addresses for a use, and, unless it is empty,
// that tunnel. One that selects nodes by labels counts: labels are not read.
func enabled(p *Pass, four bool, use, tunnel string) bool {
	for row := range int32(p.Rows(model.Pools)) { // a cluster has a few
		o := p.Pool(row)
		if use == "Workload" && o.OnRequest() {
			continue
		}
		if !o.Disabled && o.CIDR.Addr().Is4() == four && o.Serves(use) && (tunnel == "" || o.Tunnel == tunnel) {
			return true
		}
	}
	return false
}

// lastPools are the pools without which no pod starts, as PL1010 reports them.
func lastPools(p *Pass) (out []model.Ref) {
	if p.Rows(model.Pools) == 0 {
		return []model.Ref{withoutPool}
	}
	for row := range int32(p.Rows(model.Pools)) {
		if pool := p.Pool(row); pool.Disabled && pool.Serves("Workload") && !enabled(p, pool.CIDR.Addr().Is4(), "Workload", "") {
			out = append(out, pool.Ref())
		}
	}
	return out
}
