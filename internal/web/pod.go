package web

import (
	"fmt"
	"html/template"
	"net/netip"
	"net/url"
	"slices"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/plain"
)

func query(pairs ...string) string {
	q := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	return q.Encode()
}

// pod shows the ladder of a pod, and what is found about it.
func (l *look) pod() (string, any, error) {
	name := l.q.Get("name")
	ns, of := splitPod(name)
	p := l.View.PodByName(ns, of)
	if p == nil || !l.may(ns) {
		return "", nil, missing("No pod " + name + " in the last judgement, or you may not list it.")
	}
	svg, err := l.ladder(p)
	if err != nil {
		return "", nil, err
	}
	found, hidden := l.seen(func(f *finding.Finding) bool { return slices.Contains(f.About, p.Ref()) })
	commands := []string{l.Command("explain pod", of, "-n", ns), l.Command("explain pod", of, "-n", ns, "-o", "svg")}
	if l.site.Live {
		commands = append(commands, l.Command("timeline pod", of, "-n", ns))
	}
	timeline := ""
	if l.site.Timeline != nil && l.unlimited {
		timeline = name
	}
	return "pod", map[string]any{
		"Pod": p, "Ladder": svg, "Findings": l.section("pod", found, hidden), "Timeline": timeline,
		"Commands": commands,
	}, nil
}

// A claim is that somebody has an address.
type claim struct {
	Who, Pod, Node, State string
	namespace             string // of who has it
}

// address shows who has an address, and what IPAM has recorded of it.
func (l *look) address() (string, any, error) {
	ip, err := netip.ParseAddr(l.q.Get("ip"))
	if err != nil {
		return "", nil, missing("Not an address: " + l.q.Get("ip"))
	}
	v := l.View
	var claims []claim
	for c := range v.Claims(ip) {
		one := l.claimOf(c)
		if one.namespace != "" && !l.may(one.namespace) {
			one = claim{Who: "something in a namespace that you may not list", State: one.State}
		}
		claims = append(claims, one)
	}
	ref := model.Ref{Kind: model.KindAddress, Name: ip.String()}
	var ladders []template.HTML
	for p := range v.PodsWith(ip) {
		if len(ladders) == mostLadders || !l.may(p.Namespace) {
			continue
		}
		svg, err := l.ladder(p)
		if err != nil {
			return "", nil, err
		}
		ladders = append(ladders, svg)
	}
	var commands []string
	if l.site.Live { // explain ip reads the cluster
		commands = append(commands, l.Command("explain ip", ip.String()))
	}
	says, block := l.recorded(ip)
	found, hidden := l.seen(func(f *finding.Finding) bool { return f.Subject == ref || slices.Contains(f.About, ref) })
	return "address", map[string]any{
		"IP": ip.String(), "Claims": claims, "Says": says, "Block": block, "Ladders": ladders,
		"Findings": l.section("address", found, hidden), "Commands": commands,
	}, nil
}

func (l *look) claimOf(c *model.Claim) claim {
	v := l.View
	switch c.By {
	case model.ByPod:
		p := v.Pod(c.Row)
		name := p.Namespace + "/" + p.Name
		return claim{"pod " + name, name, p.Node, string(p.Phase), p.Namespace}
	case model.ByEndpoint:
		e := v.Endpoint(c.Row)
		return claim{"endpoint of " + e.Namespace + "/" + e.Pod, e.Namespace + "/" + e.Pod, e.Node, "endpoint", e.Namespace}
	case model.BySandbox:
		a := v.Attachment(c.Row)
		if s := v.SandboxNamed(a.Node, a.Sandbox); s != nil {
			return claim{"sandbox " + plain.ShortID(s.ID), s.Namespace + "/" + s.Pod, a.Node, "on the node", s.Namespace}
		}
		return claim{"network namespace " + a.NetNS, "", a.Node, "no sandbox", ""}
	case model.ByTunnel:
		return claim{"tunnel of a node", "", v.Node(c.Row).Name, "tunnel", ""}
	default:
		s := v.Service(c.Row)
		return claim{"service " + s.Namespace + "/" + s.Name, "", "", "service", s.Namespace}
	}
}

// recorded says what IPAM has of an address.
func (l *look) recorded(ip netip.Addr) (says, block string) {
	v := l.View
	if !v.State(model.Blocks, "").Seen() || !v.State(model.Pools, "").Seen() {
		return "not known: blocks or pools were not read completely", ""
	}
	for b := range v.BlocksWith(ip) {
		block = b.CIDR.String()
		a := v.AllocationOf(ip)
		if a == nil {
			return "free", block
		}
		switch at := v.AttributeOf(a); {
		case at == nil:
			return "allocated, owner unreadable", block
		case at.Pod != "" && !l.may(at.Namespace):
			return "allocated to a pod that you may not list", block
		case at.Pod != "":
			return fmt.Sprintf("allocated to %s/%s on %s", at.Namespace, at.Pod, at.Node), block
		case !l.unlimited: // a handle may be named after its owner
			return "allocated", block
		default:
			return "allocated to " + plain.ShortIDs(at.Handle), block
		}
	}
	if p := v.PoolWith(ip); p != nil {
		return "in pool " + p.Name + ", in no block", ""
	}
	return "in no pool", ""
}
