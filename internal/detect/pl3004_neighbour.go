package detect

import (
	"strings"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// PL3004 finds wrong entries for a pod's address in its node's neighbour table. Felix adds
// entries (with etcd) and never removes one.
var PL3004 = &Detector{
	Code: finding.PL3004, Title: "neighbour entry for a pod's address is on another interface, or has another MAC", Severity: finding.Warning, Class: finding.Kernel,
	Each:       []model.Table{model.Pods},
	Needs:      append([]model.Table{model.Links, model.Neighbours}, seatNeeds...),
	Uses:       seatUses,
	ShadowedBy: []finding.Code{finding.PL4008, finding.PL3008, finding.PL2010, finding.PL3002},
	Applies:    kernelIsCalicos, Since: "0.2", Run: wrongNeighbours,
}

func wrongNeighbours(p *Pass, _ model.Table, row int32) {
	s, ok := seatOf(p, row)
	if !ok || s.machine() {
		return
	}
	own, wrong := s.hostSide(p)
	if own == nil || wrong != "" {
		return
	}
	var f finding.Finding
	var says, elsewhere []string
	for _, ip := range s.ips {
		if moving(p, s.pod, ip) {
			continue
		}
		for n := range p.NeighboursOf(own.Node, ip) {
			l := p.LinkAt(own.Node, n.Link)
			if l == nil || n.Proxy {
				continue
			}
			if l != own {
				if !astray(n, l) {
					continue
				}
				elsewhere = append(elsewhere, l.Name)
			} else {
				wrong := s.wrongEntry(n, &f)
				if wrong == "" {
					continue
				}
				says = append(says, wrong)
			}
			f.Evidence = append(f.Evidence, neighbourSays(n, l))
			f.About = append(f.About, l.Ref())
		}
	}
	if len(f.Evidence) == 0 {
		return
	}
	if len(elsewhere) > 0 {
		says = append(says, "static entries on other interfaces: "+some(elsewhere))
	}
	f.Summary = strings.Join(says, "; ")
	f.Evidence = append([]finding.Evidence{insideSays(s.inside), linkSays(own, "")}, f.Evidence...)
	s.report(p, f)
}

// wrongEntry says what is wrong with an entry on the pod's own interface, or nothing. It
// adds to f the severity and the evidence that only such an entry needs.
func (s *seat) wrongEntry(n *model.Neighbour, f *finding.Finding) string {
	other := otherMAC(n, s.inside)
	switch {
	case other && n.State == "PERMANENT":
		f.Severity = finding.Error
		return "static entry for " + n.IP.String() + " with MAC " + n.MAC + ", the pod's MAC is " + s.inside.MAC
	case other && n.State == "REACHABLE":
		return "something other than the pod answers for " + n.IP.String() + ", with MAC " + n.MAC
	case s.unanswered(n) && !s.pod.Ready:
		f.Evidence = append(f.Evidence, finding.Evidence{Ref: s.pod.Ref(), Says: "not ready", Revision: s.pod.Revision, Since: s.pod.Written})
		return "it is not ready and does not answer ARP or NDP for " + n.IP.String()
	case s.unanswered(n):
		return "it does not answer ARP or NDP for " + n.IP.String() + ", although it is ready"
	}
	return ""
}

// askedLately is how many seconds ago the kernel must have asked in vain for an entry to count
// for a pod that is ready.
const askedLately = 60

// unanswered: while the table is small, the kernel keeps a failed entry forever, so the
// entry alone shows nothing about now. It counts only if the pod is not ready either, or if
// the kernel asked just now.
func (s *seat) unanswered(n *model.Neighbour) bool {
	lately := n.Asked > 0 && n.Asked <= askedLately
	return unresolved(n) && (!s.pod.Ready || lately) && s.inside.Up && s.inside.Has(n.IP)
}

// astray reports whether an entry on another interface is wrong: a learned entry ages by
// itself, a static one stays. An interface without ARP has a NOARP entry for every address
// that it sent to; only on a veth is that wrong.
func astray(n *model.Neighbour, l *model.Link) bool {
	return n.State == "PERMANENT" || strings.EqualFold(n.State, "NOARP") && l.Kind == "veth"
}

func otherMAC(n *model.Neighbour, a *model.Attachment) bool {
	return n.MAC != "" && a.MAC != "" && !strings.EqualFold(n.MAC, a.MAC)
}
