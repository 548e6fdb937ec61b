package detect

import (
	"net/netip"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// PL3005 finds pods that get no ARP reply for their gateway.
var PL3005 = &Detector{
	Code: finding.PL3005, Title: "pod cannot resolve its gateway 169.254.1.1", Severity: finding.Error, Class: finding.Kernel,
	Each:       []model.Table{model.Pods},
	Needs:      append([]model.Table{model.Links, model.Routes, model.Paths, model.Sysctls}, seatNeeds...),
	Uses:       seatUses,
	ShadowedBy: []finding.Code{finding.PL4008, finding.PL3008, finding.PL2001, finding.PL2010, finding.PL3002, finding.PL3003},
	Applies:    kernelIsCalicos, Since: "0.2", Run: noGateway,
}

// gateway6 is reported for nodes with pods that have no IPv4 gateway.
const gateway6 = "IPv6 gateways of pods are not evaluated,"

// gateway is the next hop of every Calico pod. No interface has this address; the pod's host
// interface answers ARP for it (proxy ARP).
var gateway = netip.AddrFrom4([4]byte{169, 254, 1, 1})

func noGateway(p *Pass, _ model.Table, row int32) {
	s, ok := seatOf(p, row)
	if !ok || s.machine() || s.inside == nil || eBPF(p, s.pod.Node) {
		return
	}
	if !asksGateway(s.inside) {
		if !slices.ContainsFunc(s.ips, netip.Addr.Is4) && len(s.ips) > 0 && !slices.Contains(p.untold[gateway6], s.pod.Node) {
			p.untold[gateway6] = append(p.untold[gateway6], s.pod.Node)
		}
		return
	}
	own, wrong := s.hostSide(p)
	if own == nil || wrong != "" || own.Kind != "veth" {
		return
	}
	why, says := noReply(p, s, own)
	if why == "" {
		return // an idle pod has no entry, or an old failed one: no fault
	}
	s.report(p, finding.Finding{
		Summary: why, Evidence: append([]finding.Evidence{insideSays(s.inside), linkSays(own, "")}, says...),
		About: []model.Ref{own.Ref()},
	})
}

// noReply returns why the pod gets no ARP reply; empty if no reason is found.
func noReply(p *Pass, s *seat, own *model.Link) (string, []finding.Evidence) {
	const nobody = "no ARP reply for 169.254.1.1: "
	near := nearGateway(s.inside)
	if near != nil && near.State == "PERMANENT" { // then the pod sends no ARP request
		if near.MAC == "" || own.MAC == "" || strings.EqualFold(near.MAC, own.MAC) {
			return "", nil
		}
		mac := finding.Evidence{Ref: own.Ref(), Says: "MAC " + own.MAC, Since: own.Since}
		return "its static entry for 169.254.1.1 has MAC " + near.MAC + ", but " + own.Name + " has " + own.MAC, []finding.Evidence{nearSays(s.inside, near), mac}
	}
	if off := switchedOff(p, own); off != nil {
		return nobody + off.Key + " of " + own.Name + " is " + off.Value, []finding.Evidence{sysctlSays(off)}
	}
	if says, ok := unreached(p, own.Node); ok {
		return nobody + "the node has no route that covers it", []finding.Evidence{says}
	}
	if near != nil && unresolved(near) {
		if path := strayPath(p, s, own); path != nil {
			return nobody + "the pod's own address " + wayOf(p, path), []finding.Evidence{nearSays(s.inside, near), pathSays(p, path)}
		}
	}
	return "", nil
}

// asksGateway reports whether the pod has a route via the gateway.
func asksGateway(a *model.Attachment) bool {
	for i := range a.Routes {
		if a.Routes[i].Gateway == gateway && ofDevice(&a.Routes[i], a) {
			return true
		}
	}
	return false
}

func nearGateway(a *model.Attachment) *model.Neighbour {
	for i := range a.Neighbours {
		if n := &a.Neighbours[i]; n.IP == gateway && (n.Link == 0 || n.Link == a.Index) {
			return n
		}
	}
	return nil
}

func unresolved(n *model.Neighbour) bool { return n.State == "FAILED" || n.State == "INCOMPLETE" }

// switchedOff returns the sysctl that prevents the host from answering for the gateway.
// proxy_arp may be enabled for the interface, or for all.
func switchedOff(p *Pass, own *model.Link) *model.Sysctl {
	if s := p.SysctlOf(own.Node, own.Name, "forwarding", false); s != nil && s.Value == "0" {
		return s
	}
	s := p.SysctlOf(own.Node, own.Name, "proxy_arp", false)
	if s == nil || s.Value != "0" {
		return nil
	}
	if all := p.SysctlOf(own.Node, "all", "proxy_arp", false); all != nil && all.Value != "0" {
		return nil
	}
	return s
}

// unreached reports whether the node has no route that covers the gateway (no default
// route): then the kernel does not answer ARP for it.
func unreached(p *Pass, node string) (finding.Evidence, bool) {
	if path := p.PathTo(node, gateway); path != nil {
		return pathSays(p, path), path.Error != "" || path.Type != ""
	}
	for r := range p.RoutesTo(node, gateway) {
		if r.Type == "" {
			return finding.Evidence{}, false
		}
	}
	facts := p.Snapshot().NodeState[node]
	if facts == nil {
		return finding.Evidence{}, false
	}
	for i := range facts.Routes { // an early one is nearly always the default route
		if r := &facts.Routes[i]; r.Type == "" && r.Dst.IsValid() && r.Dst.Contains(gateway) {
			return finding.Evidence{}, false
		}
	}
	ref := model.Ref{Kind: model.KindPath, Name: node + "/" + gateway.String()}
	return finding.Evidence{Ref: ref, Says: "no route covers it"}, true // no Since: only two checks prove its age
}

// strayPath returns the path of an address of the pod that does not lead to the pod: the
// kernel does not answer ARP from an address that it routes elsewhere.
func strayPath(p *Pass, s *seat, own *model.Link) *model.Path {
	for _, ip := range s.ips {
		if path := p.PathTo(own.Node, ip); path != nil && ip.Is4() && !leadsTo(path, own) {
			return path
		}
	}
	return nil
}
