package ladder

import (
	"slices"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// The parts, from the pod to Calico's records.
const (
	partPod       = "pod"
	partSandbox   = "sandbox"
	partInside    = "eth0"
	partVeth      = "veth"
	partRoute     = "route"
	partNeighbour = "neighbour"
	partBlock     = "block"
	partHandle    = "handle"
	partEndpoint  = "endpoint"
)

// order is that of the rungs.
var order = []string{partPod, partSandbox, partInside, partVeth, partRoute, partNeighbour, partBlock, partHandle, partEndpoint}

// parts are those that evidence of a kind is about.
var parts = map[model.Kind]string{
	model.KindSandbox: partSandbox, model.KindContainer: partSandbox, model.KindProcess: partSandbox, model.KindMount: partSandbox,
	model.KindAttachment: partInside, model.KindSysctl: partVeth, model.KindLink: partVeth, model.KindPath: partRoute, model.KindNeighbour: partNeighbour,
	model.KindAddress: partBlock, model.KindBlock: partBlock, model.KindHandle: partHandle, model.KindEndpoint: partEndpoint,
}

// ofCode are the parts that codes are about, where the sources do not differ, or the evidence is the pod itself.
var ofCode = map[finding.Code]string{
	finding.PL2001: partEndpoint, finding.PL2002: partEndpoint, finding.PL2003: partSandbox, finding.PL2004: partInside, finding.PL2010: partBlock,
	finding.PL3002: partVeth, finding.PL3003: partRoute, finding.PL3004: partNeighbour, finding.PL3005: partInside, finding.PL3006: partInside,
}

// own are the objects that are the pod's.
func (l *Ladder) own(b *builder) []model.Ref {
	own := []model.Ref{l.Pod.Ref()}
	for _, ip := range l.IPs {
		own = append(own, model.Ref{Kind: model.KindAddress, Name: ip.String()})
	}
	if b.box != nil {
		own = append(own, b.box.Ref())
	}
	return own
}

// place puts each finding about the pod at the rung that it concerns, and those about its node aside.
func (l *Ladder) place(b *builder, fs []finding.Finding, who Viewer) {
	own := l.own(b)
	for i := range fs {
		f := &fs[i]
		ofNode := f.Subject.Kind == model.KindNode && f.Subject.Name == l.Pod.Node
		ofPod := isAbout(f, own)
		if !ofNode && !ofPod || who.Sees != nil && !who.Sees(f) {
			continue
		}
		if ofNode || len(l.Rungs) == 0 {
			l.Node = append(l.Node, f)
			continue
		}
		r := &l.Rungs[l.rungOf(f)]
		r.Findings = append(r.Findings, f)
	}
}

func isAbout(f *finding.Finding, own []model.Ref) bool {
	return slices.ContainsFunc(f.About, func(r model.Ref) bool { return slices.Contains(own, r) })
}

// withhold counts the findings about the pod that are not placed: what is missing on it is a fault all the same.
func (l *Ladder) withhold(b *builder, r *audit.Report, who Viewer) {
	own := l.own(b)
	hidden := func(f *finding.Finding) bool { return who.Sees != nil && !who.Sees(f) }
	for _, fs := range [][]finding.Finding{r.Findings, r.Unconfirmed, r.Folded, r.Suppressed} {
		for i := range fs {
			if f := &fs[i]; serious(f) && isAbout(f, own) && hidden(f) {
				l.Hidden++
			}
		}
	}
	for i := range r.Suppressed {
		if f := &r.Suppressed[i]; serious(f) && isAbout(f, own) && !hidden(f) {
			l.Suppressed++
		}
	}
}

// rungOf is the rung of a finding: the first that its evidence is about and where the sources differ, else that of its
// code, else the first that its evidence is about, else the pod.
func (l *Ladder) rungOf(f *finding.Finding) int {
	at := func(part string) int { return slices.IndexFunc(l.Rungs, func(r Rung) bool { return r.kind == part }) }
	first := at(ofCode[f.Code])
	for _, e := range f.Evidence {
		i := at(parts[e.Ref.Kind])
		if i < 0 {
			continue
		}
		if s := l.Rungs[i].State(); s == Missing || s == Differs {
			return i
		}
		if first < 0 {
			first = i
		}
	}
	return max(first, 0)
}
