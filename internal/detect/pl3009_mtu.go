package detect

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// PL3009 finds packets that are too large for a part of their way: of pods for their host interface or
// for the tunnel, of the tunnel for the interface below it.
var PL3009 = &Detector{
	Code: finding.PL3009, Title: "MTU of pods or of a tunnel is larger than what carries it", Severity: finding.Warning, Class: finding.Kernel,
	Each:    []model.Table{model.Nodes},
	Needs:   append([]model.Table{model.Pools, model.Links}, seatNeeds...),
	Uses:    seatUses,
	Applies: kernelIsCalicos, Since: "0.3", Run: tooLarge,
}

func tooLarge(p *Pass, _ model.Table, row int32) {
	n := p.Node(row)
	if n.OS == "windows" || n.Virtual() {
		return
	}
	if eBPF(p, n.Name) {
		p.untold[bpfForwards] = append(p.untold[bpfForwards], n.Name)
		return
	}
	if !modern(p.LinksOn(n.Name)) {
		p.untold[olderAgent] = append(p.untold[olderAgent], n.Name)
		return
	}
	tunnelTooLarge(p, n)
	podsTooLarge(p, n)
}

// overheads are the bytes that a tunnel adds, over IPv4 and over IPv6.
var overheads = map[string][2]int{"vxlan.calico": {50, 70}, "vxlan-v6.calico": {70, 70}, "tunl0": {20, 20}, "wireguard.cali": {60, 80}, "wg-v6.cali": {80, 80}}

// tunnelTooLarge compares Calico's tunnels with the interface that has the node's address.
func tunnelTooLarge(p *Pass, n *model.Node) {
	links := p.LinksOn(n.Name)
	for i := range links {
		over, is := overheads[links[i].Name]
		if !is || !links[i].Up || links[i].MTU == 0 || !carries(p, links[i].Name) {
			continue
		}
		below, six := below(p, n, links)
		if below == nil || below.MTU == 0 {
			continue
		}
		add := over[0]
		if six {
			add = over[1]
		}
		if links[i].MTU+add > below.MTU {
			says := fmt.Sprintf("%s has MTU %d, and adds %d bytes; %s carries %d", links[i].Name, links[i].MTU, add, plain(below.Name, maxName), below.MTU)
			reportKernel(p, n.Name, finding.Finding{Subject: n.Ref(), Summary: says, Evidence: []finding.Evidence{mtuSays(&links[i]), mtuSays(below)}})
		}
	}
}

// carries reports whether a pool's packets take a tunnel.
func carries(p *Pass, tunnel string) bool {
	kind := map[string]string{"vxlan.calico": "VXLAN", "vxlan-v6.calico": "VXLAN", "tunl0": "IPIP"}[tunnel]
	return kind == "" || slices.ContainsFunc(p.Snapshot().Pools, func(l model.Pool) bool { return l.Tunnel == kind })
}

// below is the interface with the node's address in Calico, and whether that is IPv6.
func below(p *Pass, n *model.Node, links []model.Link) (*model.Link, bool) {
	for _, ip := range p.CalicoIPsOf(n) { // IPv4 first
		for i := range links {
			if slices.ContainsFunc(links[i].IPs, func(x netip.Prefix) bool { return x.Addr().Unmap() == ip }) {
				return &links[i], ip.Is6()
			}
		}
	}
	return nil, false
}

func mtuSays(l *model.Link) finding.Evidence {
	return finding.Evidence{Ref: l.Ref(), Says: fmt.Sprintf("%s, MTU %d", upOrDown(l.Up), l.MTU), Since: l.Since}
}

// podsTooLarge compares the interfaces of pods with their host interfaces, and with the tunnel that
// packets to other nodes take.
func podsTooLarge(p *Pass, n *model.Node) {
	var pods []*seat
	worst, what := 0, ""
	severity := finding.Warning
	for pod := range p.PodsOn(n.Name) {
		s := seatOfPod(p, pod)
		if s == nil || s.inside == nil || s.inside.MTU == 0 || !s.sandbox.SharesKernel() {
			continue
		}
		limit, of, hard := s.limit(p)
		if limit == 0 || s.inside.MTU <= limit {
			continue
		}
		pods = append(pods, s)
		if is := map[bool]finding.Severity{true: finding.Error, false: finding.Warning}[hard]; what == "" || is == severity && limit < worst || is.Level() > severity.Level() {
			worst, what, severity = limit, of, is
		}
	}
	if len(pods) == 0 {
		return
	}
	slices.SortFunc(pods, func(a, b *seat) int { return cmp.Compare(a.pod.Ref().Name, b.pod.Ref().Name) })
	f := finding.Finding{
		Subject: n.Ref(), Severity: severity,
		Summary: fmt.Sprintf("%s, such as %s with MTU %d, send larger packets than %s carries (%d)", count(len(pods), "pod", "pods"), pods[0].pod.Ref().Name, pods[0].inside.MTU, what, worst),
	}
	for i, s := range pods {
		f.About = append(f.About, s.pod.Ref())
		if i < 5 {
			f.Evidence = append(f.Evidence, finding.Evidence{Ref: s.inside.Ref(), Says: fmt.Sprintf("%s of %s has MTU %d", s.device, s.pod.Ref().Name, s.inside.MTU), Since: s.inside.Since})
		}
	}
	reportKernel(p, n.Name, f)
}

// limit is the largest packet that leaves the pod, and what limits it: hard if larger ones are lost
// without a word, as at the other end of its interface; before a tunnel the kernel tells the sender.
func (s *seat) limit(p *Pass) (mtu int, of string, hard bool) {
	if host, wrong := s.hostSide(p); host != nil && wrong == "" && host.MTU > 0 && host.MTU < s.inside.MTU {
		return host.MTU, plain(host.Name, maxName), true
	}
	for _, ip := range s.ips {
		for _, name := range tunnelsOf(p, s.pod.Node, ip) {
			if l := p.LinkNamed(s.pod.Node, name); l != nil && l.Up && l.MTU > 0 && (mtu == 0 || l.MTU < mtu) {
				mtu, of = l.MTU, name
			}
		}
	}
	return mtu, of, false
}

// tunnelsOf are the tunnels that packets from an address of a pod may have to take to pods of other nodes.
func tunnelsOf(p *Pass, node string, ip netip.Addr) (out []string) {
	wireguard, vxlan, ipip := "wireguard.cali", "vxlan.calico", "tunl0"
	if ip.Is6() {
		wireguard, vxlan, ipip = "wg-v6.cali", "vxlan-v6.calico", ""
	}
	out = append(out, wireguard)
	if pool := p.PoolWith(ip); pool != nil && (pool.Mode == "Always" || pool.Mode == "CrossSubnet" && otherSubnets(p, node, ip.Is6())) {
		out = append(out, map[string]string{"VXLAN": vxlan, "IPIP": ipip}[pool.Tunnel])
	}
	return out
}

// otherSubnets reports whether any other node's address in Calico is in another subnet than the node's.
func otherSubnets(p *Pass, node string, six bool) bool {
	n := p.NodeByName(node)
	if n == nil {
		return false
	}
	own := subnetsOf(p, n)
	nodes := p.Snapshot().Nodes
	for i := range nodes {
		for _, ip := range p.CalicoIPsOf(&nodes[i]) {
			if ip.Is6() == six && len(own) > 0 && !slices.ContainsFunc(own, func(s netip.Prefix) bool { return s.Contains(ip) }) {
				return true
			}
		}
	}
	return false
}

// subnetsOf are the subnets of a node's addresses in Calico, as its interfaces have them.
func subnetsOf(p *Pass, n *model.Node) (out []netip.Prefix) {
	for _, l := range p.LinksOn(n.Name) {
		for _, subnet := range l.IPs {
			if slices.Contains(p.CalicoIPsOf(n), subnet.Addr().Unmap()) {
				out = append(out, subnet.Masked())
			}
		}
	}
	return out
}
