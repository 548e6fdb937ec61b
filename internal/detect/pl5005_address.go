package detect

import (
	"fmt"
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// PL5005 finds nodes whose address in Calico is not theirs: packets of other nodes go astray.
var PL5005 = &Detector{
	Code: finding.PL5005, Title: "Calico has another address for a node than the node has", Severity: finding.Error, Class: finding.Kernel,
	Each:    []model.Table{model.Nodes},
	Needs:   []model.Table{model.Nodes, model.Hosts},
	Uses:    []model.Table{model.Links, model.Blocks},
	Applies: networkIsCalicos, Since: "0.3", Run: nodeAddress,
}

func nodeAddress(p *Pass, _ model.Table, row int32) {
	n := p.Node(row)
	if n.OS == "windows" || n.Virtual() {
		return
	}
	if p.CalicoLacks(n) && p.NodeUse(n.Name).Blocks > 0 {
		says := "Calico has no such node: the others have no route or tunnel to its pods"
		p.Report(finding.Finding{Subject: n.Ref(), Node: n.Name, Summary: says, Evidence: []finding.Evidence{{Ref: n.Ref(), Says: says}}})
	}
	for _, ip := range p.CalicoIPsOf(n) {
		f := finding.Finding{Subject: n.Ref(), Node: n.Name, Evidence: []finding.Evidence{{Ref: n.Ref(), Says: "Calico has " + ip.String()}}}
		if others := othersAt(p, n, ip); len(others) > 0 {
			f.Summary = fmt.Sprintf("Calico has %s for it and for %s", ip, some(others))
			f.Evidence[0].Says += " for " + some(others) + " too"
			p.Report(f)
			continue
		}
		switch agree := slices.Contains(n.Addresses, ip); {
		case agree: // also behind a translation of addresses, where no interface has it
		case !p.Sees(n.Name, model.Links):
			if slices.ContainsFunc(n.Addresses, func(a netip.Addr) bool { return a.Is6() == ip.Is6() }) {
				p.untold[atOddsIP] = append(p.untold[atOddsIP], n.Name)
			}
		case !p.HasAddress(n.Name, ip):
			f.Summary = fmt.Sprintf("Calico has %s for it, which none of its interfaces has: other nodes send its pods' packets elsewhere", ip)
			f.Evidence = append(f.Evidence, finding.Evidence{Ref: n.Ref(), Says: "Kubernetes has " + addrs(n.Addresses)})
			p.Report(f)
		}
	}
}

// atOddsIP is said of nodes of which nobody knows the interfaces: they may rightly have both.
const atOddsIP = "Calico has another address than Kubernetes, and no agent says whether the node has it,"

// othersAt names the other nodes with an address.
func othersAt(p *Pass, n *model.Node, ip netip.Addr) (out []string) {
	for o := range p.NodesAt(ip) {
		if o.Name != n.Name {
			out = append(out, o.Name)
		}
		if len(out) > 3 { // as many as are named
			break
		}
	}
	slices.Sort(out)
	return out
}
