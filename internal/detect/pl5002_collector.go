package detect

import (
	"fmt"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// PL5002 finds that the IPAM garbage collector is stalled, crashes, or will release an
// address in use.
var PL5002 = &Detector{
	Code: finding.PL5002, Title: "IPAM garbage collector is stalled, crashes, or will release an address in use", Severity: finding.Error, Class: finding.Transient,
	Each:       []model.Table{model.Blocks, model.Allocations, model.Components, model.Cluster},
	Needs:      []model.Table{model.Blocks, model.Allocations, model.Pods, model.PodPhase, model.PodNode, model.PodStatus, model.Nodes, model.Hosts},
	ShadowedBy: []finding.Code{finding.PL1003},
	Uses:       []model.Table{model.Collector, model.Components, model.Endpoints},
	Applies:    ipamIsCalicos, Since: "0.1", Run: collector,
}

// Each fault of the garbage collector is a subject of its own: one can be repaired without
// the other.
var (
	collectorCrashes = model.Ref{Kind: model.KindCollector, Name: "kube-controllers/crashes"}
	collectorStalled = model.Ref{Kind: model.KindCollector, Name: "kube-controllers/not-ready"}
	collectorAbsent  = model.Ref{Kind: model.KindCollector, Name: "kube-controllers/absent"}
)

func collector(p *Pass, t model.Table, row int32) {
	switch t {
	case model.Blocks:
		b := p.Block(row)
		for _, s := range b.Held {
			if s[1] < 0 || int(s[1]) >= len(b.Attributes) {
				p.Report(finding.Finding{
					Subject: collectorCrashes, Summary: fmt.Sprintf("crashes on block %s; no leaked address in the cluster is released", b.CIDR), About: []model.Ref{b.Ref()},
					Evidence: []finding.Evidence{blockSays(b, fmt.Sprintf("#%d points at attribute %d of %d", s[0], s[1], len(b.Attributes)))},
				})
				return
			}
		}
	case model.Cluster:
		noCollector(p)
	case model.Components:
		c := p.Component(row)
		if c.Name == "calico-kube-controllers" && c.Wanted > 0 && c.Ready == 0 {
			p.Report(finding.Finding{
				Subject: collectorStalled, Summary: "none of its replicas is ready: no leaked address is released", Class: finding.Teardown,
				Evidence: []finding.Evidence{{Ref: collectorStalled, Says: fmt.Sprintf("%d wanted, none ready", c.Wanted)}},
			})
		}
	default:
		aboutToFree(p, p.Allocation(row))
	}
}

// noCollector reports that nothing collects, where Calico's workloads could be read.
func noCollector(p *Pass) {
	calico := false
	for row := range int32(p.Rows(model.Components)) {
		switch c := p.Component(row); c.Name {
		case "calico-kube-controllers":
			return
		case "calico-node":
			calico = true
		}
	}
	if calico && p.State(model.Components, "") == model.Complete {
		p.Report(finding.Finding{
			Subject: collectorAbsent, Summary: "calico-kube-controllers does not exist: no leaked address is released", Class: finding.Teardown, Severity: finding.Warning,
			Evidence: []finding.Evidence{{Ref: collectorAbsent, Says: "no such Deployment"}},
		})
	}
}

// aboutToFree: the IPAM garbage collector treats a pod as gone if it is on another node than
// the one in the record (calico#12257).
func aboutToFree(p *Pass, a *model.Allocation) {
	at := p.AttributeOf(a)
	if c, ok := p.Collector(); at == nil || at.Pod == "" || p.NodeByName(at.Node) == nil || at.Machine() != "" || (ok && c.LeakGracePeriod == 0) {
		return
	}
	pod := p.PodByName(at.Namespace, at.Pod)
	if pod == nil || pod.Node == "" || p.SameNode(at.Node, pod.Node) || !holds(p, pod, a.IP) {
		return
	}
	p.Report(finding.Finding{
		Subject:  model.Ref{Kind: model.KindCollector, Name: "kube-controllers/" + a.IP.String()},
		Summary:  fmt.Sprintf("will release %s, which %s/%s uses: the IPAM record names the wrong node", a.IP, pod.Namespace, pod.Name),
		Evidence: []finding.Evidence{allocationSays(p, a), {Ref: pod.Ref(), Says: "runs on " + pod.Node, Revision: pod.Revision, Since: pod.Written}}, About: []model.Ref{a.Ref(), pod.Ref()},
	})
}
