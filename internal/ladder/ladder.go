// Package ladder shows the network of one pod as a ladder: a rung for each part, with what Kubernetes, Calico and
// the node say of it side by side. What a source was not read about is marked so, and is never called equal. What
// differs on a pod that no finding is about is not called a fault: the detectors know what is normal. Pure.
package ladder

import (
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// The columns of a ladder: who says it.
const (
	kubernetes = iota
	calico
	node
	sources
)

// Sources are the names of the columns.
var Sources = [sources]string{"Kubernetes", "Calico", "Node"}

// A Mark tells how a cell stands to the others of its rung.
type Mark string

// The marks. Odd is what differs or is missing on a pod that no finding is about; Nothing is of what is not there, and
// need not be.
const (
	Agrees  Mark = "agrees"
	Differs Mark = "differs"
	Missing Mark = "missing"
	Unread  Mark = "unread"
	Odd     Mark = "odd"
	Nothing Mark = "nothing"
)

// A Cell is what one source says about one part.
type Cell struct {
	Says  string
	Mark  Mark
	value string // what is compared; empty: nothing is
}

// A Rung is one part of a pod's network.
type Rung struct {
	Part     string // what it is called
	kind     string // which it is
	Cells    [sources]Cell
	Findings []*finding.Finding // about this part
}

// State is the worst mark of the rung's cells: they agree only if each that should say something does.
func (r *Rung) State() Mark {
	for _, m := range []Mark{Missing, Differs, Odd, Unread, Nothing, Agrees} {
		if slices.ContainsFunc(r.Cells[:], func(c Cell) bool { return c.Mark == m }) {
			return m
		}
	}
	return ""
}

// Found tells that there is a finding about the rung that is more than a remark.
func (r *Rung) Found() bool { return slices.ContainsFunc(r.Findings, serious) }

func serious(f *finding.Finding) bool { return f.Severity != finding.Info }

// A Ladder is the network of a pod.
type Ladder struct {
	Pod   *model.Pod
	IPs   []netip.Addr // that any source says it has
	Rungs []Rung
	Node  []*finding.Finding // about its node as a whole
	Note  string             // why nothing can be said of it

	Suppressed, Hidden int // findings about the pod that are not shown: the latter are not for who looks
}

// A Viewer is who looks; one without rights of their own sees everything.
type Viewer struct {
	Sees func(*finding.Finding) bool // nil: all
	May  func(namespace string) bool // list pods there; nil: everywhere
}

// Of builds the ladder of a pod of a report, with the findings about it at the rungs that they concern.
func Of(r *audit.Report, pod *model.Pod, who Viewer) *Ladder {
	b := newBuilder(r, pod, who)
	l := &Ladder{Pod: pod, IPs: b.ips}
	switch {
	case pod.HostNetwork:
		l.Note = "uses the host network: Calico does not manage it"
	case pod.Finished():
		l.Note = "has finished and has no address"
	case pod.Node == "":
		l.Note = "is on no node yet"
	default:
		l.Rungs = []Rung{b.pod(), b.sandbox(), b.inside(), b.veth(), b.route(), b.neighbour(), b.block(), b.handle(), b.record()}
	}
	for i := range l.Rungs {
		l.Rungs[i].kind = order[i]
		compare(&l.Rungs[i])
	}
	for _, fs := range [][]finding.Finding{r.Findings, r.Unconfirmed, r.Folded} {
		l.place(b, fs, who)
	}
	l.withhold(b, r, who)
	if !l.found() {
		l.soften()
	}
	return l
}

// compare marks the cells whose value is not the one that most of the others have.
func compare(r *Rung) {
	n := map[string]int{}
	for _, c := range r.Cells {
		if c.value != "" {
			n[c.value]++
		}
	}
	most, same := 0, 0
	for _, k := range n {
		most = max(most, k)
	}
	for _, k := range n {
		if k == most {
			same++
		}
	}
	for i := range r.Cells {
		c := &r.Cells[i]
		if c.Mark != "" || c.Says == "" {
			continue
		}
		c.Mark = Agrees
		if c.value != "" && len(n) > 1 && (same > 1 || n[c.value] < most) {
			c.Mark = Differs
		}
	}
}

// found tells that a finding is about the pod.
func (l *Ladder) found() bool {
	return l.Suppressed+l.Hidden > 0 || slices.ContainsFunc(l.Rungs, func(r Rung) bool { return r.Found() })
}

// soften takes back the verdict of cells that no finding stands for.
func (l *Ladder) soften() {
	for i := range l.Rungs {
		for j := range l.Rungs[i].Cells {
			if c := &l.Rungs[i].Cells[j]; c.Mark == Differs || c.Mark == Missing {
				c.Mark = Odd
			}
		}
	}
}
