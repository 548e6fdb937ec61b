package detect

import (
	"fmt"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// PL1003 finds allocations that name another owner than the pod that uses the address.
var PL1003 = &Detector{
	Code: finding.PL1003, Title: "allocation names another pod or node than the one that uses it", Severity: finding.Error, Class: finding.Transient,
	Each:       []model.Table{model.Allocations},
	Needs:      []model.Table{model.Allocations, model.Blocks, model.Pods, model.PodPhase, model.PodNode, model.PodStatus, model.Nodes, model.Hosts},
	Uses:       []model.Table{model.Endpoints, model.Collector, model.CNIConfigs, model.Machines},
	ShadowedBy: []finding.Code{finding.PL2010, finding.PL1004, finding.PL5003},
	Applies:    ipamIsCalicos, Since: "0.1", Run: misnamed,
}

func misnamed(p *Pass, _ model.Table, row int32) {
	a := p.Allocation(row)
	at := p.AttributeOf(a)
	if at == nil || at.Tunnel() || at.Service != "" || at.Machine() != "" {
		return // the pods of a KubeVirt VM change under one handle
	}
	users := holders(p, a.IP)
	if len(users) != 1 {
		return // nobody (PL1001), or a duplicate address (PL2010)
	}
	pod := users[0]
	ns, name := at.PodName()
	var f finding.Finding
	switch {
	case name == "":
		f.Summary = fmt.Sprintf("used by %s/%s; the IPAM record names no pod", pod.Namespace, pod.Name)
		f.Severity = finding.Warning
	case ns != pod.Namespace || name != pod.Name:
		f.Summary = fmt.Sprintf("used by %s/%s; the IPAM record names %s/%s", pod.Namespace, pod.Name, ns, name)
	case at.Node != "" && pod.Node != "" && !p.SameNode(at.Node, pod.Node):
		f = otherNode(p, pod, at.Node)
	default:
		return
	}
	f.Subject, f.Node, f.Namespace = a.Ref(), pod.Node, pod.Namespace
	f.Evidence = []finding.Evidence{allocationSays(p, a), podSays(pod)}
	f.About, f.Class = append(f.About, pod.Ref()), classHeld(p, a.IP, pod)
	p.Report(f)
}

// otherNode says that the IPAM record names another node than the pod's, why, and what follows.
func otherNode(p *Pass, pod *model.Pod, node string) (f finding.Finding) {
	f.Summary = fmt.Sprintf("used on %s; the IPAM record names %s", pod.Node, node)
	if nameInConfig(p, pod.Node) == node { // then that is the cause
		f.Summary += ", as the CNI configuration of " + pod.Node + " does"
		f.About = append(f.About, model.Ref{Kind: model.KindNode, Name: pod.Node})
	}
	// The IPAM garbage collector keeps an allocation of a node that does not exist.
	if c, ok := p.Collector(); (!ok || c.LeakGracePeriod > 0) && p.NodeByName(node) != nil {
		f.Summary += "; the IPAM garbage collector will free it"
	}
	return f
}
