package audit

import (
	"fmt"
	"net/netip"
	"time"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// A Predating is that most of what was left behind was written before the kubelet of its node
// started: that kubelet never knew of it, and calls no DEL for it. Invariants: Findings <= Of;
// From <= To.
type Predating struct {
	Findings int        `json:"findings"` // number of findings whose record is older than the kubelet
	Of       int        `json:"of"`       // number of findings for which both times are known
	Nodes    int        `json:"nodes"`    // of these findings
	From     model.Time `json:"from"`     // when the first of their kubelets started
	To       model.Time `json:"to"`       // when the last one did
}

// Predating compares the records that were left behind with the kubelets of their nodes; nil if
// most are not older, or few are known.
func (r *Report) Predating() *Predating {
	p, nodes := &Predating{}, map[string]bool{}
	for i := range r.Findings {
		f := &r.Findings[i]
		m := r.View.MachineOf(f.Node)
		written, kubelet := leftAt(f, r.View, m), kubeletOf(m, r.Taken)
		if written == 0 || kubelet == 0 {
			continue
		}
		p.Of++
		if written >= kubelet {
			continue
		}
		p.Findings++
		nodes[f.Node] = true
		if p.From == 0 || kubelet < p.From {
			p.From = kubelet
		}
		p.To = max(p.To, kubelet)
	}
	if p.Nodes = len(nodes); p.Findings < atLeast || float64(p.Findings) < mostOf*float64(p.Of) {
		return nil
	}
	return p
}

// leftAt is when the record was written that is left of a pod: its endpoint, whose time is its
// node's, or the handle of its address; zero if that is not known.
func leftAt(f *finding.Finding, v *model.View, m *model.Machine) model.Time {
	if f.Code == finding.PL2002 {
		for _, row := range v.Find(model.Subject{Table: model.Endpoints, Ref: f.Subject}) {
			if at := v.Endpoint(row).Created; at != 0 && m != nil {
				return at.Add(-time.Duration(m.Ahead) * time.Second)
			}
		}
		return 0
	}
	ip, err := netip.ParseAddr(f.Subject.Name)
	if f.Code != finding.PL1001 || err != nil {
		return 0
	}
	if a := v.AllocationOf(ip); a != nil && v.AttributeOf(a) != nil {
		for h := range v.HandlesOf(v.AttributeOf(a).Handle) {
			return h.Written
		}
	}
	return 0
}

// kubeletOf is when the kubelet of a machine started; zero if that is not known.
func kubeletOf(m *model.Machine, taken model.Time) model.Time {
	if m == nil || m.Uptime == 0 || m.Kubelet == 0 {
		return 0
	}
	return taken.Add(time.Duration(m.Kubelet-m.Uptime) * time.Second)
}

// String is the statement as one line, in UTC.
func (p *Predating) String() string {
	const layout = "2006-01-02 15:04"
	when := p.From.Time().Format(layout)
	if p.To.Sub(p.From) >= time.Minute {
		when += " - " + p.To.Time().Format(layout)
	}
	nodes := "1 node"
	if p.Nodes != 1 {
		nodes = fmt.Sprintf("%d nodes", p.Nodes)
	}
	return fmt.Sprintf("%d of %d leaked records are older than the kubelet of their node (%s, started %s UTC): it does not know them, and calls no DEL", p.Findings, p.Of, nodes, when)
}
