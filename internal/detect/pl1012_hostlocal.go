package detect

import (
	"fmt"
	"slices"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// PL1012 finds nodes whose files of host-local, the IPAM plugin of Canal and flannel, do not agree
// with their sandboxes.
var PL1012 = &Detector{
	Code: finding.PL1012, Title: "addresses of host-local and sandboxes of the node disagree", Severity: finding.Warning, Class: finding.Teardown,
	Each:       []model.Table{model.Nodes},
	Needs:      []model.Table{model.Nodes, model.Sandboxes},
	Uses:       []model.Table{model.HostLocal, model.Pods, model.PodPhase, model.PodNode, model.PodStatus},
	ShadowedBy: []finding.Code{finding.PL4009},
	Applies:    ipamIsHostLocal, Since: "0.3", Run: hostLocal,
}

// ipamIsHostLocal: elsewhere files of host-local are left of another plugin, or of further networks.
func ipamIsHostLocal(c Calico) Fit {
	switch c.IPAM {
	case "host-local":
		return Yes
	case unknownIPAM:
		return Maybe
	default:
		return No
	}
}

// noHostLocal is said of nodes on which pods may have addresses of host-local.
const noHostLocal = "files of host-local were not read"

func hostLocal(p *Pass, _ model.Table, row int32) {
	n := p.Node(row)
	if p.State(model.HostLocal, n.Name) == model.NotThere {
		return // the plugin has never given an address there
	}
	if !p.Sees(n.Name, model.HostLocal) {
		p.untold[noHostLocal] = append(p.untold[noHostLocal], n.Name)
		return
	}
	rows := p.ReservedOn(n.Name)
	leakedFiles(p, n, rows)
	takenUp(p, n, rows)
	unreservedPods(p, n, rows)
}

// leakedFiles reports addresses that are kept for sandboxes that are gone.
func leakedFiles(p *Pass, n *model.Node, rows []model.Reserved) {
	for i := range rows {
		r := &rows[i]
		if r.Sandbox == "" || p.SandboxNamed(n.Name, r.Sandbox) != nil {
			continue
		}
		ref := model.Ref{Kind: model.KindAddress, Name: r.IP.String()}
		p.Report(finding.Finding{
			Subject: ref, Node: n.Name,
			Summary: fmt.Sprintf("host-local on %s keeps it for a sandbox that is gone", n.Name),
			Evidence: []finding.Evidence{
				{Ref: ref, Says: fmt.Sprintf("taken in network %s by sandbox %s", plain(r.Network, maxName), plain(r.Sandbox, maxName)), Since: r.Since},
				{Ref: n.Ref(), Says: "has no such sandbox"},
			},
		})
	}
}

// takenUp reports a node whose range is nearly taken: no pod can start there.
func takenUp(p *Pass, n *model.Node, rows []model.Reserved) {
	taken := 0
	for i := range rows {
		if rows[i].IP.Is4() {
			taken++
		}
	}
	reportFull(p, n.Ref(), n.Name, taken, rangeOf(n), "of the node's range for host-local")
}

// rangeOf is the number of addresses that host-local can give in the node's range: not the first,
// which is the gateway's, nor the network's and the broadcast's.
func rangeOf(n *model.Node) int {
	for _, c := range n.PodCIDRs {
		if c.Addr().Is4() {
			return max(0, model.Size(c, 1<<20)-3)
		}
	}
	return 0
}

// unreservedPods reports running pods whose address host-local would give again.
func unreservedPods(p *Pass, n *model.Node, rows []model.Reserved) {
	if len(rows) == 0 {
		return // this may be another directory than the plugin's
	}
	for pod := range p.PodsOn(n.Name) {
		box := p.RunningSandbox(pod)
		if box == nil || !pod.Networked() || len(pod.IPs) == 0 || !fromRange(n, pod) || !pod.Deleted.IsZero() {
			continue
		}
		if slices.ContainsFunc(rows, func(r model.Reserved) bool { return slices.Contains(pod.IPs, r.IP) }) {
			continue
		}
		p.Report(finding.Finding{
			Subject: pod.Ref(), Node: n.Name, Namespace: pod.Namespace, Severity: finding.Error,
			Summary:  fmt.Sprintf("host-local does not have its address %s as taken: another pod can get it", addrs(pod.IPs)),
			Evidence: []finding.Evidence{podSays(pod), {Ref: n.Ref(), Says: "no file of host-local for " + addrs(pod.IPs)}},
		})
	}
}

// fromRange reports whether the pod has an address of the node's range.
func fromRange(n *model.Node, pod *model.Pod) bool {
	for _, ip := range pod.IPs {
		for _, c := range n.PodCIDRs {
			if c.Contains(ip) {
				return true
			}
		}
	}
	return false
}
