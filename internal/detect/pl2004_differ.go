package detect

import (
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// PL2004 finds pods whose addresses differ between Kubernetes, Calico and the node.
var PL2004 = &Detector{
	Code: finding.PL2004, Title: "pod addresses differ between Kubernetes, Calico and the node", Severity: finding.Error, Class: finding.Teardown,
	Each:       []model.Table{model.Pods},
	Needs:      []model.Table{model.Pods, model.PodPhase, model.PodNode, model.PodStatus, model.Endpoints, model.Pools, model.Nodes, model.Hosts},
	Uses:       []model.Table{model.Sandboxes, model.Processes, model.Attachments, model.CNIConfigs, model.CNIResults},
	ShadowedBy: []finding.Code{finding.PL2010, finding.PL2001, finding.PL2002},
	Applies:    networkIsCalicos, Since: "0.1", Run: addressesDiffer,
}

func addressesDiffer(p *Pass, _ model.Table, row int32) {
	pod := p.Pod(row)
	if pod.Phase != model.Running || pod.HostNetwork || !pod.Deleted.IsZero() || !ofCalico(p, pod.IPs) {
		return
	}
	calicos, endpoints := calicosAddresses(p, pod)
	from := "annotation"
	if p.Calico.Etcd {
		from = "endpoint"
	}
	own, at := ownAddresses(p, pod)
	if (len(calicos) == 0 || agree(pod.IPs, calicos)) && (len(own) == 0 || agree(pod.IPs, own)) {
		return
	}
	f := finding.Finding{Subject: pod.Ref(), Node: pod.Node, Namespace: pod.Namespace, Class: classOf(p, pod), Evidence: []finding.Evidence{podSays(pod)}}
	for _, e := range endpoints {
		f.Evidence = append(f.Evidence, endpointSays(e))
	}
	f.Summary = "status has " + addrs(pod.IPs) + ", " + from + " has " + addrs(calicos)
	if at != nil {
		f.Summary += ", " + at.Device + " has " + addrs(own)
		f.Evidence = append(f.Evidence, insideSays(at))
	}
	for _, ip := range append(slices.Clone(pod.IPs), calicos...) {
		f.About = append(f.About, model.Ref{Kind: model.KindAddress, Name: ip.String()})
	}
	p.Report(f)
}

// calicosAddresses are the addresses that Calico has for the pod: in its annotation or, with
// etcd, in its endpoints on its node.
func calicosAddresses(p *Pass, pod *model.Pod) (ips []netip.Addr, endpoints []*model.Endpoint) {
	ips = slices.Clip(pod.Annotated) // shared with other detectors
	if !p.Calico.Etcd {
		return ips, nil
	}
	for e := range p.EndpointsOf(pod.Namespace, pod.Name) {
		if p.SameNode(e.Node, pod.Node) && (e.Interface == "" || e.Interface == "eth0") {
			ips = append(ips, e.IPs...)
			endpoints = append(endpoints, e)
		}
	}
	return ips, endpoints
}

// ownAddresses are the addresses of Calico's interface in the pod, if its node state was
// read. An interface without any Calico address is PL3006.
func ownAddresses(p *Pass, pod *model.Pod) ([]netip.Addr, *model.Attachment) {
	box, _ := running(p, pod)
	ips, at, _ := inside(p, box)
	if !ofCalico(p, ips) {
		return nil, nil
	}
	return ips, at
}

// agree reports whether Calico has every address of the status. Calico may have an
// additional one of an IP family that Kubernetes does not use here (calico#5044).
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
