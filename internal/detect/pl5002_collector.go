package detect

import (
	"fmt"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// PL5002 finds that Calico's own collector cannot work, or is about to do harm.
var PL5002 = &Detector{
	Code: "PL5002", Title: "IPAM garbage collector is stalled, crashes, or will release an address in use", Severity: finding.Error, Class: finding.Transient,
	Each:       []model.Table{model.Blocks, model.Allocations, model.Components},
	Needs:      []model.Table{model.Blocks, model.Allocations, model.Pods, model.PodPhase, model.PodNode, model.PodStatus, model.Nodes, model.Hosts},
	ShadowedBy: []finding.Code{"PL1003"},
	Uses:       []model.Table{model.Collector, model.Components, model.Endpoints},
	Applies:    ipamIsCalicos, Since: "0.1", Run: collector,
}

// What is wrong with the collector is part of the subject: one can be mended without
// the other.
var (
	collectorCrashes = model.Ref{Kind: model.KindCollector, Name: "kube-controllers/crashes"}
	collectorStalled = model.Ref{Kind: model.KindCollector, Name: "kube-controllers/not-ready"}
)

func collector(p *Pass, t model.Table, row int32) {
	switch t {
	case model.Blocks:
		b := p.Block(row)
		for _, s := range b.Held {
			if s[1] < 0 || int(s[1]) >= len(b.Attributes) {
				p.Report(finding.Finding{
					Subject: collectorCrashes, Summary: fmt.Sprintf("crashes on block %s, and no leak in the cluster is collected", b.CIDR), About: []model.Ref{b.Ref()},
					Evidence: []finding.Evidence{blockSays(b, fmt.Sprintf("#%d points at attribute %d of %d", s[0], s[1], len(b.Attributes)))},
				})
				return
			}
		}
	case model.Components:
		c := p.Component(row)
		if c.Name == "calico-kube-controllers" && c.Wanted > 0 && c.Ready == 0 {
			p.Report(finding.Finding{
				Subject: collectorStalled, Summary: "none of its replicas is ready: no leak is collected", Class: finding.Teardown,
				Evidence: []finding.Evidence{{Ref: collectorStalled, Says: fmt.Sprintf("%d wanted, none ready", c.Wanted)}},
			})
		}
	default:
		aboutToFree(p, p.Allocation(row))
	}
}

// aboutToFree: the collector takes a pod on another node than the allocation says for
// gone (calico issue 12257).
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
		Summary:  fmt.Sprintf("will free %s, which %s/%s uses: the ledger has its node wrong", a.IP, pod.Namespace, pod.Name),
		Evidence: []finding.Evidence{allocationSays(p, a), {Ref: pod.Ref(), Says: "runs on " + pod.Node, Revision: pod.Revision, Since: pod.Written}}, About: []model.Ref{a.Ref(), pod.Ref()},
	})
}
