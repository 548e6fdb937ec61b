package detect

import (
	"fmt"
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// PL2010 finds addresses that several running owners have.
var PL2010 = &Detector{
	Code: finding.PL2010, Title: "duplicate address: more than one pod, tunnel or service uses it", Severity: finding.Error, Class: finding.Transient,
	Each:  []model.Table{model.Addresses},
	Needs: []model.Table{model.Addresses, model.Pods, model.PodPhase, model.PodNode, model.PodStatus, model.Nodes, model.Services},
	Uses: []model.Table{
		model.Hosts, model.Endpoints, model.Blocks, model.Allocations, model.Cluster,
		model.Sandboxes, model.Attachments, model.CNIConfigs, model.CNIResults, model.Paths,
	},
	Since: "0.1", Run: duplicate,
}

func duplicate(p *Pass, _ model.Table, row int32) {
	ip := p.Address(row)
	if alone(p, ip) {
		return
	}
	pods := holders(p, ip)
	if len(pods) == 2 && sameMachine(pods[0], pods[1]) {
		pods = pods[:1] // the VM is migrating from one to the other
	}
	node := p.TunnelWith(ip)
	if node != nil && slices.Contains(node.Addresses, ip) {
		node = nil // host encryption gives the tunnel the node's own address
	}
	services := servicesWith(p, ip)
	owners := len(pods)
	if node != nil {
		owners++
	}
	if len(services) > 0 {
		owners++ // several services may share an address on purpose
	}
	if owners < 2 {
		return
	}
	f := finding.Finding{Subject: model.Ref{Kind: model.KindAddress, Name: ip.String()}, Class: classHeld(p, ip, pods...)}
	f.Namespace, f.Node = commonPlace(pods)
	var rest []finding.Evidence
	for _, pod := range pods {
		rest = append(rest, podSays(pod))
		f.About = append(f.About, pod.Ref())
	}
	if node != nil {
		rest = append(rest, nodeSays(node, "a tunnel has "+ip.String()))
		f.Node = node.Name
	}
	for _, s := range services {
		rest = append(rest, finding.Evidence{Ref: s.Ref(), Says: "has " + ip.String(), Revision: s.Revision})
	}
	rightful, record := rightful(p, pods, ip)
	f.Summary = duplicateSummary(owners, len(pods), node, f.Node, rightful)
	if pod := receives(p, pods, ip); pod != nil {
		f.Summary += "; traffic on " + pod.Node + " goes to " + pod.Namespace + "/" + pod.Name
	}
	rest = append(rest, record)
	f.Evidence = rest
	p.Report(f)
}

func servicesWith(p *Pass, ip netip.Addr) (services []*model.Service) {
	for c := range p.Claims(ip) {
		if c.By == model.ByService {
			services = append(services, p.Service(c.Row))
		}
	}
	return services
}

// commonPlace is the namespace and the node of all the pods; each is empty if they differ.
func commonPlace(pods []*model.Pod) (namespace, node string) {
	for i, pod := range pods {
		if i == 0 {
			namespace, node = pod.Namespace, pod.Node
		}
		if pod.Namespace != namespace {
			namespace = ""
		}
		if pod.Node != node {
			node = ""
		}
	}
	return namespace, node
}

// alone is the fast path for nearly all addresses: fewer than two claims.
func alone(p *Pass, ip netip.Addr) bool {
	n := 0
	for c := range p.Claims(ip) {
		if c.By != model.ByEndpoint && c.By != model.BySandbox {
			n++
		}
	}
	return n < 2
}

func duplicateSummary(owners, pods int, node *model.Node, where, rightful string) string {
	s := fmt.Sprintf("%d running pods use it", pods)
	switch {
	case node != nil:
		s = fmt.Sprintf("%s and a tunnel of %s use it", count(pods, "running pod", "running pods"), node.Name)
	case pods < owners:
		s = fmt.Sprintf("%s and a service use it", count(pods, "running pod", "running pods"))
	case where != "":
		s += ", all on node " + where
	}
	return s + "; " + rightful
}

// rightful names the owner that should keep the address: the one in the IPAM record, else
// the oldest pod.
func rightful(p *Pass, pods []*model.Pod, a netip.Addr) (string, finding.Evidence) {
	if al := p.AllocationOf(a); al != nil {
		says := allocationSays(p, al)
		if at := p.AttributeOf(al); at != nil {
			for _, pod := range pods {
				if at.Namespace == pod.Namespace && at.Pod == pod.Name {
					return "IPAM names " + pod.Namespace + "/" + pod.Name, says
				}
			}
			if at.Tunnel() {
				return "IPAM names a tunnel of " + at.Node, says
			}
		}
		return "IPAM names none of them", says
	}
	free := freeSays(p, a)
	if len(pods) == 0 {
		return "free in IPAM", free
	}
	oldest := pods[0]
	for _, pod := range pods[1:] {
		if pod.Created < oldest.Created {
			oldest = pod
		}
	}
	return fmt.Sprintf("free in IPAM; %s/%s is the oldest", oldest.Namespace, oldest.Name), free
}

// sameMachine reports whether both pods run the same KubeVirt VM: during a live migration
// two pods have its address.
func sameMachine(a, b *model.Pod) bool {
	return a.VM != "" && a.VM == b.VM && a.Namespace == b.Namespace
}
