package detect

import (
	"fmt"
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// PL1011 finds LoadBalancer Services that hold several addresses of a family (calico#12503):
// Calico assigns one of each.
var PL1011 = &Detector{
	Code: finding.PL1011, Title: "LoadBalancer Service holds several addresses of one family", Severity: finding.Warning, Class: finding.Transient,
	Each:    []model.Table{model.Handles},
	Needs:   []model.Table{model.Handles, model.Blocks, model.Allocations, model.Services},
	Applies: ipamMayBeCalicos, Since: "0.3", Run: manyAddresses,
}

func manyAddresses(p *Pass, _ model.Table, row int32) {
	h := p.Handle(row)
	var service *model.Service
	var held []netip.Addr
	for a := range p.AllocationsBy(h.ID) {
		at := p.AttributeOf(a)
		if at == nil || at.Service == "" || at.Cooling {
			return // of a pod: nearly all are
		}
		service = p.ServiceByName(at.Namespace, at.Service)
		held = append(held, a.IP)
	}
	if service == nil {
		return // its addresses are PL1001
	}
	slices.SortFunc(held, netip.Addr.Compare)
	for _, four := range []bool{true, false} {
		var ips []string
		published := 0
		for _, ip := range held {
			if ip.Is4() == four {
				ips = append(ips, ip.String())
				if slices.Contains(service.IPs, ip) {
					published++
				}
			}
		}
		if len(ips) < 2 {
			continue
		}
		p.Report(finding.Finding{
			Subject: service.Ref(), Namespace: service.Namespace,
			Summary:  fmt.Sprintf("holds %d %s addresses (%s), %d of them in its status: Calico assigns one", len(ips), family(four), some(ips), published),
			Evidence: []finding.Evidence{handleSays(h, "holds "+some(ips)), {Ref: service.Ref(), Says: "in its status: " + addrs(service.IPs), Revision: service.Revision}},
			About:    []model.Ref{h.Ref()},
		})
	}
}
