package detect

import (
	"net/netip"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// PL1002 finds addresses that running pods use and that are free in Calico IPAM.
var PL1002 = &Detector{
	Code: finding.PL1002, Title: "address in use, not allocated: the next pod may get it", Severity: finding.Error, Class: finding.Transient,
	Each:       []model.Table{model.Addresses},
	Needs:      []model.Table{model.Addresses, model.Pods, model.PodPhase, model.PodNode, model.PodStatus, model.Allocations, model.Blocks, model.Pools, model.Nodes},
	Uses:       []model.Table{model.Endpoints, model.Cluster, model.Hosts, model.Sandboxes, model.Attachments, model.CNIConfigs, model.CNIResults, model.Processes},
	ShadowedBy: []finding.Code{finding.PL2001, finding.PL2010, finding.PL2002},
	Applies:    ipamIsCalicos, Since: "0.1", Run: unrecorded,
}

func unrecorded(p *Pass, _ model.Table, row int32) {
	ip := p.Address(row)
	pool := p.PoolWith(ip)
	if pool == nil || pool.Disabled || !pool.Serves("Workload") || p.AllocationOf(ip) != nil {
		return
	}
	for _, pod := range holders(p, ip) {
		if pod.NoIPAM {
			continue // it requested this address outside IPAM
		}
		f := finding.Finding{
			Subject: model.Ref{Kind: model.KindAddress, Name: ip.String()}, Node: pod.Node, Namespace: pod.Namespace,
			Summary:  "used by " + pod.Namespace + "/" + pod.Name + ", free in Calico IPAM",
			Evidence: []finding.Evidence{podSays(pod), freeSays(p, ip)},
			About:    []model.Ref{pod.Ref()},
		}
		f.Class = classHeld(p, ip, pod)
		if !pod.Ready && f.Class == finding.Transient {
			f.Class = finding.Teardown // its sandbox may be being removed
		}
		p.Report(f)
		return
	}
	unrecordedSandbox(p, ip)
}

// unrecordedSandbox: no pod in the API has the address, but a running sandbox does. Node
// state takes precedence: the next pod would get a duplicate address.
func unrecordedSandbox(p *Pass, ip netip.Addr) {
	box, at := livesIn(p, ip)
	if box == nil || changing(p, box.Node, box.ID) {
		return
	}
	if pod := p.PodByUID(box.UID); pod != nil && pod.NoIPAM {
		return
	}
	f := finding.Finding{
		Subject: model.Ref{Kind: model.KindAddress, Name: ip.String()}, Node: box.Node, Class: finding.Teardown,
		Summary:  "used inside sandbox " + first8(box.ID) + " on node " + box.Node + ", free in Calico IPAM",
		Evidence: []finding.Evidence{sandboxSays(box), insideSays(at), freeSays(p, ip)},
	}
	// A node is no source for the pods of another node.
	if pod := p.PodByName(box.Namespace, box.Pod); pod == nil || pod.Node == box.Node {
		name := box.Namespace + "/" + box.Pod
		f.Summary = "used inside sandbox " + first8(box.ID) + " of " + name + ", free in Calico IPAM"
		f.Namespace, f.About = box.Namespace, []model.Ref{{Kind: model.KindPod, Name: name}}
	}
	p.Report(f)
}
