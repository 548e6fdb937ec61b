package objects

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"plumbline.dev/plumbline/api/v1alpha1"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// An entry is one finding that was confirmed, and is not known to be gone. It stays in the group in which it
// was first seen: a pool that cannot be read for a while does not move it.
type entry struct {
	code       finding.Code
	group      string   // the name of its object
	nodes      []string // without which it cannot be judged
	severity   finding.Severity
	first      model.Time // known to have lasted since then
	seen       model.Time // last in a report
	pass       int        // the last report that lists it
	suppressed bool
	why        string // why it could not be checked for longer than patience; empty: it was
	adopted    bool   // found by an earlier leader, and not by this one yet
	sample     v1alpha1.FindingSample
}

// take makes the entry what a confirmed finding says.
func (e *entry) take(f *finding.Finding, at model.Time, suppressed bool) {
	e.nodes, e.severity, e.seen, e.suppressed, e.why, e.adopted = nodesOf(f), f.Severity, at, suppressed, "", false
	if !f.Since.IsZero() && (e.first.IsZero() || f.Since < e.first) {
		e.first = f.Since
	}
	if e.first.IsZero() {
		e.first = at
	}
	e.sample = sampleOf(f)
	e.sample.Since = timeOf(e.first)
}

// nodesOf gives the nodes of a finding and of what it is about.
func nodesOf(f *finding.Finding) (nodes []string) {
	add := func(n string) {
		if n != "" && !slices.Contains(nodes, n) && len(nodes) < 8 {
			nodes = append(nodes, n)
		}
	}
	add(f.Node)
	for _, r := range f.About {
		add(r.OnNode())
		if r.Kind == model.KindNode {
			add(r.Name)
		}
	}
	return nodes
}

func sampleOf(f *finding.Finding) v1alpha1.FindingSample {
	return v1alpha1.FindingSample{
		Subject: subjectOf(f.Subject.Name), Message: Bounded(f.Summary, v1alpha1.MaxMessage),
		Node: Bounded(f.Node, v1alpha1.MaxName), Since: timeOf(f.Since),
	}
}

// subjectOf is the name of a subject; one that does not fit gets a digest, so that no two are the same.
func subjectOf(name string) string {
	if fits := Bounded(name, v1alpha1.MaxName); fits == name {
		return name
	}
	sum := fmt.Sprintf("~%x", sha256.Sum256([]byte(name)))[:17]
	return Bounded(name, v1alpha1.MaxName-len(sum)) + sum
}

func timeOf(t model.Time) v1alpha1.Time { return v1alpha1.TimeOf(t.Time()) }
