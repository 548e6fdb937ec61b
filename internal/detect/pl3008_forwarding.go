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
		off := forwardingOff(p, n)
		if six {
			off = forwardingOff6(p, n)
		}
		if off != nil {
			reportKernel(p, n.Name, finding.Finding{
				Subject: n.Ref(), About: pods,
				Summary:  fmt.Sprintf("%s is 0: packets that arrive on %s for %s are dropped", sysctlName(off.sysctl), off.where, count(len(pods), "pod", "pods")),
				Evidence: []finding.Evidence{sysctlSays(off.sysctl)},
			})
			return
		}
		if says, e := dropsForwarded(p, n, six); says != "" {
			reportKernel(p, n.Name, finding.Finding{Subject: n.Ref(), About: pods, Summary: says, Evidence: []finding.Evidence{e}})
			return
		}
	}
}

// An unforwarded is a sysctl by which a node drops packets for its pods, and where they arrive.
type unforwarded struct {
	sysctl *model.Sysctl
	where  string
}

// forwardingOff finds an uplink that does not forward IPv4: the kernel decides by the interface on which a packet arrives.
func forwardingOff(p *Pass, n *model.Node) *unforwarded {
	for _, l := range uplinks(p, n, false) {
		if s := p.SysctlOf(n.Name, l.Name, "forwarding", false); s != nil && s.Value == "0" {
			return &unforwarded{s, plain(l.Name, maxName)}
		}
	}
	return nil
}

// noForwarding6 is reported for nodes with IPv6 pods whose sysctl was not reported.
const noForwarding6 = "net.ipv6.conf.all.forwarding was not read,"

// forwardingOff6 reports that a node does not forward IPv6. conf/all/forwarding alone decides: that of an interface says whether it
// is a router there, which accepts no router advertisements. From Linux 6.17 on, force_forwarding lets single interfaces forward.
func forwardingOff6(p *Pass, n *model.Node) *unforwarded {
	all := p.SysctlOf(n.Name, "all", "forwarding", true)
	switch {
	case all == nil:
		p.untold[noForwarding6] = append(p.untold[noForwarding6], n.Name)
		return nil
	case all.Value != "0":
		return nil
	}
	forced := func(l *model.Link) bool {
		s := p.SysctlOf(n.Name, l.Name, "force_forwarding", true)
		return s != nil && s.Value == "1"
	}
	links := uplinks(p, n, true)
	if len(links) == 0 {
		return &unforwarded{all, "any interface"}
	}
	var names []string
	for _, l := range links {
		if !forced(l) {
			names = append(names, plain(l.Name, maxName))
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	return &unforwarded{all, some(names)}
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

// defaultLinks are the indexes of the interfaces that default routes of the main table use: those of VRFs and of policies by source
// or interface are for other packets than those of pods.
func defaultLinks(p *Pass, node string, six bool) map[int]bool {
	out := map[int]bool{}
	for _, r := range p.RoutesOn(node) {
		if r.Dst.Bits() == 0 && r.Dst.Addr().Is6() == six && r.Type == "" && r.Table == tableMain {
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
