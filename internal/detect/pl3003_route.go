package detect

import (
	"net/netip"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// PL3003 finds pods that their own node does not reach. Felix restores a missing route
// within 90 s if the endpoint is correct; it does not remove one that points to another pod.
var PL3003 = &Detector{
	Code: finding.PL3003, Title: "host route of a pod is missing, or points to another interface", Severity: finding.Error, Class: finding.Kernel,
	Each:       []model.Table{model.Pods},
	Needs:      append([]model.Table{model.Links, model.Routes, model.Paths}, seatNeeds...),
	Uses:       seatUses,
	ShadowedBy: []finding.Code{finding.PL4008, finding.PL3008, finding.PL2001, finding.PL2010, finding.PL3002},
	Applies:    kernelIsCalicos, Since: "0.2", Run: wrongRoute,
}

func wrongRoute(p *Pass, _ model.Table, row int32) {
	s, ok := seatOf(p, row)
	if !ok {
		return
	}
	own, wrong := s.hostSide(p)
	if own == nil || wrong != "" {
		return
	}
	for _, ip := range s.ips {
		path := p.PathTo(own.Node, ip)
		if path == nil || leadsTo(path, own) || moving(p, s.pod, ip) {
			continue
		}
		s.report(p, finding.Finding{
			Summary:  routeSays(p, ip, own) + "; " + ip.String() + " " + wayOf(p, path),
			Evidence: []finding.Evidence{insideSays(s.inside), linkSays(own, ""), pathSays(p, path)},
			About:    []model.Ref{own.Ref()},
		})
	}
}

// leadsTo reports whether the kernel delivers packets directly to that interface.
func leadsTo(path *model.Path, l *model.Link) bool {
	return path.Error == "" && path.Type == "" && !path.Gateway.IsValid() && path.Link == l.Index
}

// moving reports whether a KubeVirt VM is migrating to another pod with its address.
func moving(p *Pass, pod *model.Pod, ip netip.Addr) bool {
	for other := range p.PodsWith(ip) {
		if other != pod && sameMachine(pod, other) {
			return true
		}
	}
	return false
}

// routeSays describes the host route of the address in the routing tables.
func routeSays(p *Pass, ip netip.Addr, own *model.Link) string {
	says := "it has no host route"
	for r := range p.RoutesTo(own.Node, ip) {
		switch {
		case r.Type != "":
			says = "its host route is of type " + r.Type
		case r.Link == own.Index:
			return "its host route is not used"
		default:
			return "its host route points to " + linkName(p, own.Node, r.Link)
		}
	}
	return says
}

// wayOf describes what the kernel does with a packet to the address.
func wayOf(p *Pass, path *model.Path) string {
	name := linkName(p, path.Node, path.Link)
	switch {
	case path.Error != "" && path.Type != "":
		return "is rejected: " + path.Error + " (" + path.Type + ")"
	case path.Error != "":
		return "is rejected: " + path.Error
	case path.Type == "local":
		return "is treated as the node's own address"
	case path.Type != "":
		return "ends in a route of type " + path.Type
	case path.Gateway.IsValid():
		return "leaves through " + name + " via " + path.Gateway.String()
	}
	for a := range p.AttachmentsBehind(path.Node, path.Link) {
		if other := p.SandboxNamed(a.Node, a.Sandbox); other != nil {
			return "goes to " + name + " of " + other.Namespace + "/" + other.Pod
		}
	}
	return "goes to " + name
}
