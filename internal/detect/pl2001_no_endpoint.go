package detect

import (
	"net/netip"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// PL2001 finds running pods that Calico does not know any more.
var PL2001 = &Detector{
	Code: "PL2001", Title: "running pod has no endpoint, or lost its address annotation", Severity: finding.Error, Class: finding.Teardown,
	Each:       []model.Table{model.Pods},
	Needs:      []model.Table{model.Pods, model.PodPhase, model.PodNode, model.PodStatus, model.Pools, model.Endpoints, model.Nodes, model.Hosts},
	Uses:       []model.Table{model.Sandboxes, model.Processes},
	ShadowedBy: []finding.Code{"PL2002"},
	Applies:    networkIsCalicos, Since: "0.1", Run: noEndpoint,
}

func noEndpoint(p *Pass, _ model.Table, row int32) {
	pod := p.Pod(row)
	if pod.HostNetwork || pod.Phase != model.Running || !pod.Deleted.IsZero() || pod.Node == "" || !ofCalico(p, pod.IPs) {
		return
	}
	var f finding.Finding
	if p.Calico.Etcd {
		for e := range p.EndpointsOf(pod.Namespace, pod.Name) {
			if p.SameNode(e.Node, pod.Node) {
				return
			}
			f.About = append(f.About, e.Ref())
		}
		f.Summary = "runs without endpoint"
		missing := model.Ref{Kind: model.KindEndpoint, Name: model.EndpointName(p.CalicoName(pod.Node), pod)}
		f.Evidence = []finding.Evidence{podSays(pod), {Ref: missing, Says: "no such endpoint"}}
	} else {
		switch pod.Annotation {
		case model.Written:
			return
		case model.Emptied:
			f.Summary = "runs, but a DEL has emptied its address annotation"
		case model.Absent:
			f.Summary = "runs without an address annotation"
		case model.Garbled:
			f.Summary = "its address annotation cannot be read"
		}
		f.Evidence = []finding.Evidence{podSays(pod)}
	}
	f.Subject, f.Node, f.Namespace = pod.Ref(), pod.Node, pod.Namespace
	for _, ip := range pod.IPs {
		f.About = append(f.About, model.Ref{Kind: model.KindAddress, Name: ip.String()})
	}
	f.Class = classOf(p, pod)
	p.Report(f)
}

// ofCalico tells that one of the addresses can only come from a pool of Calico's.
func ofCalico(p *Pass, ips []netip.Addr) bool {
	for _, ip := range ips {
		if p.PoolWith(ip) != nil {
			return true
		}
	}
	return false
}
