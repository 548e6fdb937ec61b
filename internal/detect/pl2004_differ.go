package detect

import (
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// PL2004 finds pods of which the books give different addresses.
var PL2004 = &Detector{
	Code: "PL2004", Title: "the addresses of a pod differ between the books", Severity: finding.Error, Class: finding.Teardown,
	Each:       []model.Table{model.Pods},
	Needs:      []model.Table{model.Pods, model.PodPhase, model.PodNode, model.PodStatus, model.Endpoints, model.Pools, model.Nodes, model.Hosts},
	ShadowedBy: []finding.Code{"PL2010", "PL2001", "PL2002"},
	Applies:    networkIsCalicos, Since: "0.1", Run: addressesDiffer,
}

func addressesDiffer(p *Pass, _ model.Table, row int32) {
	pod := p.Pod(row)
	if pod.Phase != model.Running || pod.HostNetwork || !pod.Deleted.IsZero() || !ofCalico(p, pod.IPs) {
		return
	}
	calicos, from := pod.Annotated, "annotation"
	var endpoints []*model.Endpoint
	if p.Calico.Etcd {
		from = "endpoint"
		for e := range p.EndpointsOf(pod.Namespace, pod.Name) {
			if p.SameNode(e.Node, pod.Node) && (e.Interface == "" || e.Interface == "eth0") {
				calicos = append(calicos, e.IPs...)
				endpoints = append(endpoints, e)
			}
		}
	}
	if len(calicos) == 0 || agree(pod.IPs, calicos) {
		return
	}
	f := finding.Finding{Subject: pod.Ref(), Node: pod.Node, Namespace: pod.Namespace, Class: classOf(p, pod), Evidence: []finding.Evidence{podSays(pod)}}
	for _, e := range endpoints {
		f.Evidence = append(f.Evidence, endpointSays(e))
	}
	f.Summary = "status says " + addrs(pod.IPs) + ", " + from + " says " + addrs(calicos)
	for _, ip := range append(slices.Clone(pod.IPs), calicos...) {
		f.About = append(f.About, model.Ref{Kind: model.KindAddress, Name: ip.String()})
	}
	p.Report(f)
}

// agree: every address of the status is Calico's; Calico may know one more of a
// family that Kubernetes does not use here (calico issue 5044).
func agree(status, calicos []netip.Addr) bool {
	for _, a := range status {
		if !slices.Contains(calicos, a) {
			return false
		}
	}
	for _, a := range calicos {
		if !slices.Contains(status, a) && slices.ContainsFunc(status, func(s netip.Addr) bool { return s.Is4() == a.Is4() }) {
			return false
		}
	}
	return true
}
