package detect

import (
	"net/netip"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// PL2003 finds pods whose annotation or endpoint names another sandbox than the one that
// holds their address or, where an agent runs, than the running one.
var PL2003 = &Detector{
	Code: finding.PL2003, Title: "endpoint or annotation belongs to another sandbox than the one that runs", Severity: finding.Warning, Class: finding.Teardown,
	Each:       []model.Table{model.Pods},
	Needs:      []model.Table{model.Pods, model.PodPhase, model.PodNode, model.PodStatus, model.Allocations, model.Blocks, model.Endpoints, model.Nodes, model.Hosts},
	Uses:       []model.Table{model.Sandboxes, model.Processes},
	ShadowedBy: []finding.Code{finding.PL2001, finding.PL2002, finding.PL2010, finding.PL1003},
	Applies:    ipamIsCalicos, Since: "0.1", Run: otherSandbox,
}

func otherSandbox(p *Pass, _ model.Table, row int32) {
	pod := p.Pod(row)
	if pod.Phase != model.Running || pod.HostNetwork || !pod.Deleted.IsZero() {
		return
	}
	id, ips, endpoint := recorded(p, pod)
	if id == "" {
		return
	}
	// If another sandbox runs, its DEL will not remove Calico's record.
	if box, _ := running(p, pod); box != nil && box.ID != id && !changing(p, pod.Node, box.ID, id) {
		p.Report(sandboxDiffers(p, pod, endpoint, id, "sandbox "+first8(box.ID)+" is running", sandboxSays(box)))
		return
	}
	if a, holder := heldByAnother(p, pod, ips, id); a != nil {
		f := sandboxDiffers(p, pod, endpoint, id, "sandbox "+first8(holder)+" holds its address", allocationSays(p, a))
		f.About = []model.Ref{a.Ref()}
		p.Report(f)
	}
}

// heldByAnother finds the first of the pod's own allocations that another sandbox than id holds.
func heldByAnother(p *Pass, pod *model.Pod, ips []netip.Addr, id string) (a *model.Allocation, holder string) {
	for _, ip := range ips {
		for a := range p.AllocationsOf(ip) {
			at := p.AttributeOf(a)
			if at == nil || at.Namespace != pod.Namespace || at.Pod != pod.Name {
				continue // recorded for another pod: PL1003
			}
			if holder := model.ContainerOf(at.Handle); holder != "" && holder != id {
				return a, holder
			}
		}
	}
	return nil, ""
}

// sandboxDiffers is the finding that Calico's record names sandbox id and other evidence
// another one.
func sandboxDiffers(p *Pass, pod *model.Pod, endpoint *model.Endpoint, id, but string, other finding.Evidence) finding.Finding {
	f := finding.Finding{
		Subject: pod.Ref(), Node: pod.Node, Namespace: pod.Namespace, Class: classOf(p, pod),
		Summary:  "Calico's record names sandbox " + first8(id) + ", " + but,
		Evidence: []finding.Evidence{podSays(pod), other},
	}
	if endpoint != nil {
		f.Evidence = append(f.Evidence, endpointSays(endpoint))
	}
	return f
}

// recorded returns the sandbox and the addresses in Calico's record of a pod (the annotation;
// with etcd the endpoint, which is returned too).
func recorded(p *Pass, pod *model.Pod) (string, []netip.Addr, *model.Endpoint) {
	if !p.Calico.Etcd {
		if pod.Annotation != model.Written || len(pod.ContainerID) < 8 {
			return "", nil, nil
		}
		return pod.ContainerID, pod.Annotated, nil
	}
	for e := range p.EndpointsOf(pod.Namespace, pod.Name) {
		if p.SameNode(e.Node, pod.Node) && len(e.ContainerID) >= 8 {
			return e.ContainerID, e.IPs, e
		}
	}
	return "", nil, nil
}
