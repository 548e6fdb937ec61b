package detect

import (
	"net/netip"
	"strings"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// PL3005 finds pods that nobody answers when they ask for their gateway.
var PL3005 = &Detector{
	Code: "PL3005", Title: "pod cannot resolve its gateway 169.254.1.1", Severity: finding.Error, Class: finding.Kernel,
	Each:       []model.Table{model.Pods},
	Needs:      append([]model.Table{model.Links, model.Routes, model.Paths, model.Sysctls}, seatNeeds...),
	Uses:       seatUses,
	ShadowedBy: []finding.Code{"PL2001", "PL2010", "PL3002", "PL3003"},
	Applies:    networkIsCalicos, Since: "0.2", Run: noGateway,
}

// gateway is what Calico gives every pod as its next hop: no device has that address, the
// host's end of the pod's device answers for it.
var gateway = netip.AddrFrom4([4]byte{169, 254, 1, 1})

func noGateway(p *Pass, _ model.Table, row int32) {
	s, ok := seatOf(p, row)
	if !ok || s.machine() || s.inside == nil || !asksGateway(s.inside) || eBPF(p, s.pod.Node) {
		return
	}
	own, wrong := s.hostSide(p)
	if own == nil || wrong != "" || own.Kind != "veth" {
		return
	}
	why, says := silence(p, s, own)
	if why == "" {
		return // an idle pod has no entry, or one that failed when it was asked for last: no fault
	}
	s.report(p, finding.Finding{
		Summary: why, Evidence: append([]finding.Evidence{insideSays(s.inside), linkSays(own, "")}, says...),
		About: []model.Ref{own.Ref()},
	})
}

// silence tells why the pod is not answered, if there is a reason.
func silence(p *Pass, s *seat, own *model.Link) (string, []finding.Evidence) {
	const nobody = "nobody answers for 169.254.1.1: "
	near := nearGateway(s.inside)
	if near != nil && near.State == "PERMANENT" { // then it does not ask
		if near.MAC == "" || own.MAC == "" || strings.EqualFold(near.MAC, own.MAC) {
			return "", nil
		}
		mac := finding.Evidence{Ref: own.Ref(), Says: "MAC " + own.MAC, Since: own.Since}
		return "its static entry for 169.254.1.1 is " + near.MAC + ", but " + own.Name + " is " + own.MAC, []finding.Evidence{nearSays(s.inside, near), mac}
	}
	if off := switchedOff(p, own); off != nil {
		return nobody + off.Key + " of " + own.Name + " is " + off.Value, []finding.Evidence{sysctlSays(off)}
	}
	if says, ok := unreached(p, own.Node); ok {
		return nobody + "its node has no route that covers it", []finding.Evidence{says}
	}
	if near != nil && unresolved(near) {
		if path := strayPath(p, s, own); path != nil {
			return nobody + "the pod's own address " + wayOf(p, path), []finding.Evidence{nearSays(s.inside, near), pathSays(p, path)}
		}
	}
	return "", nil
}

// asksGateway tells that the pod sends packets by way of the gateway.
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

// switchedOff gives the setting that keeps the host from answering for the gateway. To
// answer for others is allowed for one device, or for all.
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

// unreached tells that the node would not know where to send a packet to the gateway, for
// want of a default route: then the kernel does not answer for it.
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
	return finding.Evidence{Ref: ref, Says: "no route covers it"}, true // nothing dates it but our own waiting
}

// strayPath gives the way of an address of the pod's that does not lead to it: the kernel
// does not answer whom it would not reach.
func strayPath(p *Pass, s *seat, own *model.Link) *model.Path {
	for _, ip := range s.ips {
		if path := p.PathTo(own.Node, ip); path != nil && ip.Is4() && !leadsTo(path, own) {
			return path
		}
	}
	return nil
}
