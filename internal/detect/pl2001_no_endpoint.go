package detect

import (
	"net/netip"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// PL2001 finds running pods that have lost their endpoint or address annotation.
var PL2001 = &Detector{
	Code: finding.PL2001, Title: "running pod has no endpoint, or lost its address annotation", Severity: finding.Error, Class: finding.Teardown,
	Each:       []model.Table{model.Pods},
	Needs:      []model.Table{model.Pods, model.PodPhase, model.PodNode, model.PodStatus, model.Pools, model.Endpoints, model.Nodes, model.Hosts},
	Uses:       []model.Table{model.Sandboxes, model.Processes},
	ShadowedBy: []finding.Code{finding.PL2002},
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
		f.Summary = "running, but has no endpoint"
		missing := model.Ref{Kind: model.KindEndpoint, Name: model.EndpointName(p.CalicoName(pod.Node), pod)}
		f.Evidence = []finding.Evidence{podSays(pod), {Ref: missing, Says: "no such endpoint"}}
	} else {
		switch pod.Annotation {
		case model.Written:
			return
		case model.Emptied:
			f.Summary = "running, but a DEL has emptied its address annotation"
		case model.Absent:
			f.Summary = "running, but has no address annotation"
		case model.Garbled:
			f.Summary = "its address annotation cannot be parsed"
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

// ofCalico reports whether one of the addresses is in a Calico pool.
func ofCalico(p *Pass, ips []netip.Addr) bool {
	for _, ip := range ips {
		if p.PoolWith(ip) != nil {
			return true
		}
	}
	return false
}
