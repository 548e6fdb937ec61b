package detect

import (
	"fmt"
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// PL3008 finds nodes that do not forward packets between their pods and other nodes.
var PL3008 = &Detector{
	Code: finding.PL3008, Title: "node does not forward packets of its pods", Severity: finding.Error, Class: finding.Kernel,
	Each:       []model.Table{model.Nodes},
	Needs:      []model.Table{model.Nodes, model.Hosts, model.Pods, model.PodPhase, model.PodNode, model.PodStatus, model.Links, model.Routes, model.Sysctls},
	Uses:       []model.Table{model.Machines, model.Firewall},
	ShadowedBy: []finding.Code{finding.PL4009},
	Applies:    kernelIsCalicos, Since: "0.3", Run: notForwarding,
}

func notForwarding(p *Pass, _ model.Table, row int32) {
	n := p.Node(row)
	var pods []model.Ref
	family := map[bool]bool{} // by whether it is IPv6
	for pod := range p.PodsOn(n.Name) {
		if !pod.Networked() || pod.Phase != model.Running {
			continue
		}
		pods = append(pods, pod.Ref())
		for _, ip := range pod.IPs {
			family[ip.Is6()] = true
		}
	}
	if eBPF(p, n.Name) {
		p.untold[bpfForwards] = append(p.untold[bpfForwards], n.Name)
		return
	}
	for _, six := range []bool{false, true} {
		if !family[six] {
			continue
		}
		for _, l := range uplinks(p, n, six) {
			s := p.SysctlOf(n.Name, l.Name, "forwarding", six)
			if s == nil || s.Value != "0" {
				continue
			}
			reportKernel(p, n.Name, finding.Finding{
				Subject: n.Ref(), About: pods,
				Summary:  fmt.Sprintf("forwarding of %s is off (%s): packets that arrive there for %s are dropped", plain(l.Name, maxName), sysctlName(s), count(len(pods), "pod", "pods")),
				Evidence: []finding.Evidence{sysctlSays(s)},
			})
			return
		}
		if says, e := dropsForwarded(p, n, six); says != "" {
			reportKernel(p, n.Name, finding.Finding{Subject: n.Ref(), About: pods, Summary: says, Evidence: []finding.Evidence{e}})
			return
		}
	}
}

// uplinks are the interfaces by which packets of other nodes arrive: with the node's address in
// Calico, of its default routes, and Calico's tunnels.
func uplinks(p *Pass, n *model.Node, six bool) (out []*model.Link) {
	links, ways := p.LinksOn(n.Name), defaultLinks(p, n.Name, six)
	for i := range links {
		l := &links[i]
		own := slices.ContainsFunc(l.IPs, func(x netip.Prefix) bool { return slices.Contains(p.CalicoIPsOf(n), x.Addr().Unmap()) })
		tunnel := slices.Contains([]string{"vxlan.calico", "vxlan-v6.calico", "tunl0", "wireguard.cali", "wg-v6.cali"}, l.Name) && l.Up
		if own || tunnel || ways[l.Index] {
			out = append(out, l)
		}
	}
	return out
}

// defaultLinks are the indexes of the interfaces that default routes use.
func defaultLinks(p *Pass, node string, six bool) map[int]bool {
	out := map[int]bool{}
	for _, r := range p.RoutesOn(node) {
		if r.Dst.Bits() == 0 && r.Dst.Addr().Is6() == six && r.Type == "" {
			out[r.Link] = true
		}
	}
	return out
}

// sysctlName is the name as sysctl has it.
func sysctlName(s *model.Sysctl) string {
	family := "ipv4"
	if s.IPv6 {
		family = "ipv6"
	}
	return "net." + family + ".conf." + plain(s.Device, maxName) + "." + s.Key
}
