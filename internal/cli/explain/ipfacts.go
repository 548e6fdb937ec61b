package explain

import (
	"net/netip"
	"strings"

	"plumbline.dev/plumbline/internal/model"
)

// factsOf is what the pod's own node says of its claim: the host's device, whether the
// device inside has the address, whether the kernel sends its packets there, and the
// neighbour entry for it on that device.
func factsOf(v *model.View, p *model.Pod, ip netip.Addr) []string {
	if !v.Sees(p.Node, model.Sandboxes, model.Attachments, model.Links, model.Paths, model.Neighbours) {
		return []string{"?", "?", "?", "?"}
	}
	if s := v.RunningSandbox(p); s != nil {
		if a := v.Inside(s.Node, s.ID); a != nil {
			return deviceFacts(v, a, ip)
		}
	}
	return []string{"-", "-", "-", "-"}
}

func deviceFacts(v *model.View, a *model.Attachment, ip netip.Addr) []string {
	device, has, route, near := "GONE", "-", "-", "-"
	if l := v.LinkAt(a.Node, a.Peer); l != nil && a.Peer != 0 {
		device = l.Name
	}
	if a.Has(ip) {
		has = "yes"
	}
	if p := v.PathTo(a.Node, ip); p != nil && p.Error == "" && p.Link == a.Peer {
		route = "HERE"
	}
	for n := range v.NeighboursOf(a.Node, ip) {
		if n.Link == a.Peer {
			near = strings.ToLower(n.State)
		}
	}
	return []string{device, has, route, near}
}

// sandboxClaim is a claim that only the node makes: the API has no running pod for it.
func sandboxClaim(v *model.View, c *model.Claim, ip netip.Addr) ([]string, bool) {
	a := v.Attachment(c.Row)
	name, state := a.NetNS, "NO SANDBOX"
	if s := v.SandboxNamed(a.Node, a.Sandbox); s != nil {
		name, state = s.Namespace+"/"+s.Pod, "NO POD"
		for p := range v.PodsWith(ip) {
			if p.Namespace == s.Namespace && p.Name == s.Pod {
				return nil, false
			}
		}
	}
	return append([]string{name, a.Node, state}, deviceFacts(v, a, ip)...), true
}
