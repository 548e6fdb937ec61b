package detect

import (
	"fmt"
	"net/netip"
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
	Uses:       []model.Table{model.HostLocal, model.Attachments, model.CNIConfigs, model.Pods, model.PodPhase, model.PodNode, model.PodStatus},
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
	network := "" // that the runtime has loaded: files of another are left of what was there before
	if s := p.CNISetupOn(n.Name); s.Loaded != nil && !s.Loaded.Multus() {
		network = s.Loaded.Network
	}
	var rows []model.Reserved // of the node's range: others are of other networks, or of containers that are no pods
	for _, r := range p.ReservedOn(n.Name) {
		if inRange(n, r.IP) && (network == "" || r.Network == network) {
			rows = append(rows, r)
		}
	}
	leakedFiles(p, n, rows)
	takenUp(p, n, rows)
	unreservedPods(p, n, rows)
}

// leakedFiles reports addresses that are kept for sandboxes that are gone, and that nobody has.
func leakedFiles(p *Pass, n *model.Node, rows []model.Reserved) {
	has := map[netip.Addr]bool{}
	for pod := range p.PodsOn(n.Name) {
		if pod.Finished() {
			continue // the sandbox that had it is gone, and its DEL has run
		}
		for _, ip := range pod.IPs {
			has[ip] = true // also of one that ends: its DEL removes the file
		}
	}
	for i := range rows {
		r := &rows[i]
		if r.Sandbox == "" || p.SandboxNamed(n.Name, r.Sandbox) != nil || has[r.IP] || attachedOn(p, n.Name, r.IP) {
			continue
		}
		ref := model.Ref{Kind: model.KindAddress, Name: n.Name + "/" + r.IP.String()}
		p.Report(finding.Finding{
			Subject: ref, Node: n.Name,
			Summary: fmt.Sprintf("host-local on %s keeps %s for a sandbox that is gone", n.Name, r.IP),
			Evidence: []finding.Evidence{
				{Ref: ref, Says: fmt.Sprintf("taken in network %s by sandbox %s", plain(r.Network, maxName), plain(r.Sandbox, maxName)), Since: r.Since},
				{Ref: model.Ref{Kind: model.KindSandbox, Name: n.Name + "/" + plain(r.Sandbox, maxName)}, Says: "no such sandbox"},
			},
		})
	}
}

// attachedOn reports whether a network namespace of the node has the address.
func attachedOn(p *Pass, node string, ip netip.Addr) bool {
	for a := range p.AttachmentsWith(ip) {
		if a.Node == node {
			return true
		}
	}
	return false
}

// takenUp reports a node whose range is nearly taken: no pod can start there.
func takenUp(p *Pass, n *model.Node, rows []model.Reserved) {
	taken := map[netip.Addr]bool{}
	for i := range rows {
		if rows[i].IP.Is4() {
			taken[rows[i].IP] = true
		}
	}
	reportFull(p, n.Ref(), n.Name, len(taken), rangeOf(n), "of the node's range for host-local")
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
	taken := map[netip.Addr]*model.Reserved{}
	for i := range rows {
		taken[rows[i].IP] = &rows[i]
	}
	for pod := range p.PodsOn(n.Name) {
		box := p.RunningSandbox(pod)
		if box == nil || !pod.Networked() || !pod.Deleted.IsZero() {
			continue
		}
		for _, ip := range pod.IPs {
			r := taken[ip]
			if !inRange(n, ip) || r != nil && (r.Sandbox == box.ID || r.Sandbox == "") {
				continue
			}
			f := finding.Finding{
				Subject: pod.Ref(), Node: n.Name, Namespace: pod.Namespace, Severity: finding.Error,
				Summary:  fmt.Sprintf("host-local does not have its address %s as taken: another pod can get it", ip),
				Evidence: []finding.Evidence{podSays(pod), {Ref: box.Ref(), Says: "host-local has no file for " + ip.String()}},
			}
			if r != nil {
				f.Severity = finding.Warning
				f.Summary = fmt.Sprintf("host-local has its address %s for another sandbox: its DEL will not give it back, and that sandbox's would", ip)
				f.Evidence[1].Says = fmt.Sprintf("host-local has %s for sandbox %s", ip, plain(r.Sandbox, maxName))
			}
			p.Report(f)
			break
		}
	}
}

// inRange reports whether an address is of the node's range.
func inRange(n *model.Node, ip netip.Addr) bool {
	return slices.ContainsFunc(n.PodCIDRs, func(c netip.Prefix) bool { return c.Contains(ip) })
}
