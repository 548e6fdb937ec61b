package detect

import (
	"strings"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// PL1001 finds allocated addresses that nobody uses.
var PL1001 = &Detector{
	Code: finding.PL1001, Title: "address allocated, nobody uses it", Severity: finding.Warning, Class: finding.Leak,
	Each:       []model.Table{model.Allocations},
	Needs:      []model.Table{model.Allocations, model.Blocks, model.Pods, model.PodPhase, model.PodNode, model.PodStatus, model.Nodes, model.Services, model.Addresses},
	Uses:       []model.Table{model.VMs, model.Endpoints, model.Hosts},
	ShadowedBy: []finding.Code{finding.PL1004, finding.PL2010},
	Applies:    ipamIsCalicos, Since: "0.1", Run: leaked,
}

func leaked(p *Pass, _ model.Table, row int32) {
	a := p.Allocation(row)
	at := p.AttributeOf(a)
	if at == nil || onPurpose(at) || p.Stranger(at.Node) || claimed(p, a.IP) || sharesHandle(p, a, at) {
		return
	}
	ns, name := at.PodName()
	switch {
	case strings.HasPrefix(at.Type, "LoadBalancer") || at.Service != "":
		leakedService(p, a, at)
	case at.Tunnel():
		leakedTunnel(p, a, at)
	case at.Machine() != "":
		leakedVM(p, a, at)
	case at.Hold():
		p.Report(finding.Finding{
			Subject: a.Ref(), Node: at.Node, Class: classOn(p, at.Node, finding.Leak), Summary: "held by an interrupted repair, and nobody uses it",
			Evidence: []finding.Evidence{allocationSays(p, a), unclaimed(a.IP)}, About: []model.Ref{p.BlockOf(a).Ref()},
		})
	case name == "":
		p.Report(finding.Finding{
			Subject: a.Ref(), Summary: "allocated, but the IPAM record names no owner and nobody uses it", Class: finding.Node,
			Evidence: []finding.Evidence{allocationSays(p, a), unclaimed(a.IP)}, Node: p.BlockOf(a).Node(), About: []model.Ref{p.BlockOf(a).Ref()},
		})
	default:
		leakedPod(p, a, at, p.PodByName(ns, name), ns, name)
	}
}

// onPurpose reports whether the allocation is intended: ordinals reserved for Windows, a
// released address in its cooldown, or a tunnel of an old version without handle and attributes.
func onPurpose(at *model.Attribute) bool {
	return at.Handle == model.WindowsHandle || at.Cooling || *at == model.Attribute{}
}

// sharesHandle reports whether another address of the same handle is in use: the addresses
// of one handle are released together (calico#5044).
func sharesHandle(p *Pass, a *model.Allocation, at *model.Attribute) bool {
	if at.Handle == "" {
		return false
	}
	for other := range p.AllocationsBy(at.Handle) {
		if other.IP != a.IP && claimed(p, other.IP) {
			return true
		}
	}
	return false
}

func leakedPod(p *Pass, a *model.Allocation, at *model.Attribute, pod *model.Pod, ns, name string) {
	f := finding.Finding{
		Subject: a.Ref(), Node: at.Node, Namespace: ns, Class: classOn(p, at.Node, finding.Leak),
		About: []model.Ref{{Kind: model.KindPod, Name: ns + "/" + name}, p.BlockOf(a).Ref(), {Kind: model.KindHandle, Name: at.Handle}},
	}
	switch {
	case pod == nil:
		f.Summary = "held for " + ns + "/" + name + ", which is gone"
		f.Evidence = []finding.Evidence{allocationSays(p, a), noPod(ns, name), unclaimed(a.IP)}
	case pod.Finished():
		f.Summary = "held for " + ns + "/" + name + ", which has finished"
		f.Evidence = []finding.Evidence{allocationSays(p, a), podSays(pod), unclaimed(a.IP)}
	case pod.HostNetwork:
		f.Summary = "held for " + ns + "/" + name + ", which uses the host network"
		f.Evidence = []finding.Evidence{allocationSays(p, a), podSays(pod), unclaimed(a.IP)}
	case len(pod.IPs) == 0 && !pod.TornDown():
		return // its sandbox may be starting; only its node has that state
	default:
		id, _, _ := recorded(p, pod)
		if id != "" && id == model.ContainerOf(at.Handle) && !pod.TornDown() {
			return // its own sandbox holds it: the addresses differ, which is PL2004
		}
		f.Summary = "held for an older sandbox of " + ns + "/" + name
		if id == "" {
			f.Summary = "held for " + ns + "/" + name + ", which has another address"
			f.Class = finding.Node // its next sandbox may be starting
		}
		f.Evidence = []finding.Evidence{allocationSays(p, a), podSays(pod), unclaimed(a.IP)}
	}
	p.Report(f)
}

func leakedService(p *Pass, a *model.Allocation, at *model.Attribute) {
	if p.ServiceByName(at.Namespace, at.Service) != nil {
		return // the controller may not have written its status yet
	}
	p.Report(finding.Finding{
		Subject: a.Ref(), Namespace: at.Namespace, Class: finding.Leak,
		Summary: "held for service " + at.Namespace + "/" + at.Service + ", which is gone",
		Evidence: []finding.Evidence{
			allocationSays(p, a),
			{Ref: model.Ref{Kind: model.KindService, Name: at.Namespace + "/" + at.Service}, Says: "no such service"},
			unclaimed(a.IP),
		},
	})
}

// leakedTunnel reports only tunnels of nodes that are gone: while the node exists, its
// allocator may be between its two writes, with no upper limit.
func leakedTunnel(p *Pass, a *model.Allocation, at *model.Attribute) {
	if p.NodeByName(at.Node) != nil {
		return
	}
	p.Report(finding.Finding{
		Subject: a.Ref(), Node: at.Node, Summary: "held for a tunnel of node " + at.Node + ", which is gone",
		Evidence: []finding.Evidence{allocationSays(p, a), noNode(at.Node), unclaimed(a.IP)},
	})
}

func leakedVM(p *Pass, a *model.Allocation, at *model.Attribute) {
	if !p.State(model.VMs, "").Seen() || p.VMByName(at.Namespace, at.Machine()) != nil {
		return
	}
	p.Report(finding.Finding{
		Subject: a.Ref(), Namespace: at.Namespace, Node: at.Node, Summary: "held for KubeVirt VM " + at.Namespace + "/" + at.Machine() + ", which is gone",
		Evidence: []finding.Evidence{
			allocationSays(p, a),
			{Ref: model.Ref{Kind: model.KindVM, Name: at.Namespace + "/" + at.Machine()}, Says: "no such KubeVirt VM"},
			unclaimed(a.IP),
		},
	})
}
