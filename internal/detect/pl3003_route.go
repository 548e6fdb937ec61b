package detect

import (
	"net/netip"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// PL3003 finds pods that their own node does not reach. Felix puts a missing route back
// within 90 s if its endpoint is right; one that leads to another pod it lets be.
var PL3003 = &Detector{
	Code: "PL3003", Title: "host route of a pod is missing, or points to another interface", Severity: finding.Error, Class: finding.Kernel,
	Each:       []model.Table{model.Pods},
	Needs:      append([]model.Table{model.Links, model.Routes, model.Paths}, seatNeeds...),
	Uses:       seatUses,
	ShadowedBy: []finding.Code{"PL2001", "PL2010", "PL3002"},
	Applies:    networkIsCalicos, Since: "0.2", Run: wrongRoute,
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

// leadsTo tells that a packet goes to that device, and no further.
func leadsTo(path *model.Path, l *model.Link) bool {
	return path.Error == "" && path.Type == "" && !path.Gateway.IsValid() && path.Link == l.Index
}

// moving tells that a machine is moving from one pod to the other, with its address.
func moving(p *Pass, pod *model.Pod, ip netip.Addr) bool {
	for other := range p.PodsWith(ip) {
		if other != pod && sameMachine(pod, other) {
			return true
		}
	}
	return false
}

// routeSays tells what the routing tables have for that one address.
func routeSays(p *Pass, ip netip.Addr, own *model.Link) string {
	says := "it has no host route"
	for r := range p.RoutesTo(own.Node, ip) {
		switch {
		case r.Type != "":
			says = "its host route is of type " + r.Type
		case r.Link == own.Index:
			return "its host route is not taken"
		default:
			return "its host route points at " + linkName(p, own.Node, r.Link)
		}
	}
	return says
}

// wayOf tells what really happens to a packet.
func wayOf(p *Pass, path *model.Path) string {
	name := linkName(p, path.Node, path.Link)
	switch {
	case path.Error != "" && path.Type != "":
		return "is refused: " + path.Error + " (" + path.Type + ")"
	case path.Error != "":
		return "is refused: " + path.Error
	case path.Type == "local":
		return "is taken for the node's own"
	case path.Type != "":
		return "ends in a route of type " + path.Type
	case path.Gateway.IsValid():
		return "leaves by " + name + " via " + path.Gateway.String()
	}
	for a := range p.AttachmentsBehind(path.Node, path.Link) {
		if other := p.SandboxNamed(a.Node, a.Sandbox); other != nil {
			return "goes to " + name + " of " + other.Namespace + "/" + other.Pod
		}
	}
	return "goes to " + name
}
