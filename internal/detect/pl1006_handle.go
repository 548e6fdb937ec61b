package detect

import (
	"fmt"
	"net/netip"
	"strings"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// PL1006 finds handles whose counts differ from the blocks, and legacy handles.
var PL1006 = &Detector{
	Code: finding.PL1006, Title: "handle and blocks disagree, or a legacy handle that another pod's DEL can release", Severity: finding.Warning, Class: finding.Transient,
	Each:       []model.Table{model.Handles},
	Needs:      []model.Table{model.Handles, model.HandleCounts, model.Blocks, model.Allocations},
	ShadowedBy: []finding.Code{finding.PL1004},
	Applies:    ipamMayBeCalicos, Since: "0.1", Run: wrongHandle,
}

func wrongHandle(p *Pass, _ model.Table, row int32) {
	h := p.Handle(row)
	if ordinary(p, h) || h.Missing && strings.HasPrefix(h.ID, model.HoldPrefix) {
		return
	}
	held, evidence := recount(p, h)
	f := finding.Finding{Subject: h.Ref(), Evidence: evidence}
	if model.Reusable(h.ID) && !h.Missing {
		f.Class = finding.Node // its owner may be between its writes, with no upper limit
	}
	for a := range p.AllocationsBy(h.ID) {
		f.About = append(f.About, p.BlockOf(a).Ref())
	}
	total := 0
	for _, n := range held {
		total += n
	}
	switch {
	case h.Missing:
		f.Summary = fmt.Sprintf("blocks reference it for %s, but it does not exist: a DEL will leak them", count(total, "address", "addresses"))
		f.Evidence = append([]finding.Evidence{{Ref: h.Ref(), Says: "no such handle"}}, evidence...)
	case h.Name != "" && model.HandleKey(h.Name) != model.HandleKey(h.ID):
		f.Summary = "its object is named " + h.Name + ", so Calico does not find it"
		f.Evidence = []finding.Evidence{handleSays(h, "named "+h.Name)}
		f.Class = finding.Now // Calico never renames a handle
	case twins(p, h):
		f.Summary = "another handle differs from it only in case"
		f.Evidence = []finding.Evidence{handleSays(h, "handle "+h.ID)}
	case total == 0:
		f.Summary = "no allocation uses it"
		if h.Deleted {
			f.Summary = "is marked deleted, but still exists"
		}
		f.Evidence = append([]finding.Evidence{handleSays(h, countsSay(h))}, evidence...)
	default:
		summary, severity := miscount(h, held)
		if summary == "" {
			legacyHandle(p, h)
			return
		}
		f.Summary, f.Severity = summary, severity
		f.Evidence = append([]finding.Evidence{handleSays(h, countsSay(h))}, evidence...)
	}
	p.Report(f)
}

// ordinary is the fast path for nearly all handles: named after a container, in one block,
// with the correct count.
func ordinary(p *Pass, h *model.Handle) bool {
	if h.Missing || h.Deleted || len(h.Blocks) != 1 || model.ContainerOf(h.ID) == "" || h.Name != h.ID {
		return false
	}
	n := 0
	for a := range p.AllocationsBy(h.ID) {
		if p.BlockOf(a).CIDR != h.Blocks[0].CIDR {
			return false
		}
		n++
	}
	return n == h.Blocks[0].Count && n > 0 && !twins(p, h)
}

// recount counts the addresses of the handle by block, with evidence for every block that
// the handle or an allocation names.
func recount(p *Pass, h *model.Handle) (map[netip.Prefix]int, []finding.Evidence) {
	held := map[netip.Prefix]int{}
	for a := range p.AllocationsBy(h.ID) {
		held[p.BlockOf(a).CIDR.Masked()]++
	}
	var evidence []finding.Evidence
	said := map[netip.Prefix]bool{}
	say := func(c netip.Prefix) {
		if said[c] {
			return
		}
		said[c] = true
		if b := p.BlockAt(c); b != nil {
			evidence = append(evidence, blockSays(b, fmt.Sprintf("holds %s for it", count(held[c], "address", "addresses"))))
		} else {
			evidence = append(evidence, finding.Evidence{Ref: model.Ref{Kind: model.KindBlock, Name: c.String()}, Says: "no such block"})
		}
	}
	for _, c := range h.Blocks {
		say(c.CIDR.Masked())
	}
	for a := range p.AllocationsBy(h.ID) {
		say(p.BlockOf(a).CIDR.Masked())
	}
	return held, evidence
}

// miscount compares the counts. A count that is too high only leaves a handle behind; one
// that is too low leaks addresses, because the handle is deleted before its last address.
func miscount(h *model.Handle, held map[netip.Prefix]int) (string, finding.Severity) {
	counts := map[netip.Prefix]int{}
	for _, c := range h.Blocks {
		counts[c.CIDR.Masked()] = c.Count
	}
	over, under := 0, 0
	for c, n := range counts {
		over += max(0, n-held[c])
	}
	for c, n := range held {
		under += max(0, n-counts[c])
	}
	switch {
	case under > 0:
		return fmt.Sprintf("counts %d fewer than the blocks hold: they leak when the handle is deleted", under), finding.Error
	case over > 0:
		return fmt.Sprintf("counts %d more than the blocks hold", over), finding.Warning
	case h.Deleted:
		return "is marked deleted, but still holds addresses", finding.Warning
	default:
		return "", ""
	}
}

// legacyHandle: every DEL of an older sandbox of that name releases a handle that is named
// after its pod, also in current versions of Calico.
func legacyHandle(p *Pass, h *model.Handle) {
	if !model.Legacy(h.ID) {
		return
	}
	for a := range p.AllocationsBy(h.ID) {
		at := p.AttributeOf(a)
		if at == nil {
			return
		}
		ns, name := at.PodName()
		if h.ID != ns+"."+name {
			return
		}
		p.Report(finding.Finding{
			Subject: h.Ref(), Node: at.Node, Namespace: ns, Class: finding.Now,
			Summary:  fmt.Sprintf("legacy handle of Calico 2: any DEL of an older sandbox of %s/%s releases %s", ns, name, a.IP),
			Evidence: []finding.Evidence{handleSays(h, countsSay(h)), allocationSays(p, a)},
			About:    []model.Ref{{Kind: model.KindPod, Name: ns + "/" + name}},
		})
		return
	}
}

// twins reports whether another handle has the same name to Calico, which ignores case.
func twins(p *Pass, h *model.Handle) bool {
	for other := range p.HandlesOf(h.ID) {
		if other.ID != h.ID {
			return true
		}
	}
	return false
}

func countsSay(h *model.Handle) string {
	s := "counts"
	for _, c := range h.Blocks {
		s += fmt.Sprintf(" %d in %s", c.Count, c.CIDR)
	}
	if len(h.Blocks) == 0 {
		s += " nothing"
	}
	if h.Deleted {
		s += ", marked deleted"
	}
	return s
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
