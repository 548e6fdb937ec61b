// Package finding is what a detector reports: a disagreement between the books,
// with the evidence for it. It formats nothing for a terminal and reads nothing.
package finding

import (
	"cmp"
	"slices"
	"time"

	"plumbline.dev/plumbline/internal/model"
)

// A Code names a kind of finding, for life.
type Code string

// A Severity says how much harm is done.
type Severity string

// The severities.
const (
	Info    Severity = "info"
	Warning Severity = "warning"
	Error   Severity = "error"
)

// Level orders severities.
func (s Severity) Level() int { return slices.Index([]Severity{Info, Warning, Error}, s) }

// A State says how sure we are.
type State string

// A difference is first a suspicion: the books are never read at the same instant.
const (
	Unconfirmed State = "suspected"
	Confirmed   State = "confirmed"
)

// A Class says how long a difference of this kind may last in a healthy cluster.
type Class string

// The classes of settling.
const (
	Now       Class = "now"       // a fact by itself; nothing to wait for
	Transient Class = "transient" // two writes of one protocol
	Teardown  Class = "teardown"  // a sandbox may be in the making or on its way out
	Leak      Class = "leak"      // Calico's own collector may still be at it
	Kernel    Class = "kernel"    // Felix may still be at it: two of its looks
	Node      Class = "node"      // only the node can prove it
)

// An Evidence is one fact that a finding rests on. What it says is the projection
// that two looks are compared by: it holds what matters and nothing that moves.
type Evidence struct {
	Ref      model.Ref  `json:"ref"`
	Says     string     `json:"says"`
	Revision string     `json:"revision,omitempty"`
	Since    model.Time `json:"since,omitzero"` // it has been so at least since then, by the API server's clock
}

// A Cause is how a finding came about, by the logs.
type Cause struct {
	Says      string     `json:"says"`
	Certainty string     `json:"certainty"` // proven, likely
	At        model.Time `json:"at,omitzero"`
	Lines     []string   `json:"lines,omitempty"`    // file:line that it rests on
	NotShown  []string   `json:"notShown,omitempty"` // what the logs cannot tell
}

// A Finding is one disagreement.
type Finding struct {
	Code     Code       `json:"code"`
	Severity Severity   `json:"severity"`
	Subject  model.Ref  `json:"subject"`
	Summary  string     `json:"summary"`
	Evidence []Evidence `json:"evidence,omitempty"`
	Class    Class      `json:"class"`

	State        State      `json:"state"`
	Since        model.Time `json:"since,omitzero"`  // proven to have lasted since then
	RecheckAfter model.Time `json:"decide,omitzero"` // when a suspicion can be decided
	Why          string     `json:"why,omitempty"`   // why it is still a suspicion
	Explains     []string   `json:"explains,omitempty"`

	Causes    []Cause         `json:"causes,omitempty"` // by the logs, if they were read
	Node      string          `json:"node,omitempty"`
	Namespace string          `json:"namespace,omitempty"`
	About     []model.Ref     `json:"about,omitempty"` // what else it is about
	From      []model.Subject `json:"-"`               // the rows that were judged
}

// Key names the finding: stable between runs, and what a person types.
func (f *Finding) Key() string { return string(f.Code) + "/" + f.Subject.Name }

// Proven is the time since when all of the evidence is known to have held; zero if
// that is not known of some of it.
func (f *Finding) Proven() model.Time {
	var since model.Time
	for _, e := range f.Evidence {
		if e.Since.IsZero() {
			return 0
		}
		since = max(since, e.Since)
	}
	return since
}

// Same tells whether two looks saw the same facts.
func (f *Finding) Same(g *Finding) bool {
	return slices.EqualFunc(f.Evidence, g.Evidence, func(a, b Evidence) bool { return a.Ref == b.Ref && a.Says == b.Says })
}

// Merge adds what another report of the same finding says.
func (f *Finding) Merge(g *Finding) {
	for _, e := range g.Evidence {
		if !slices.ContainsFunc(f.Evidence, func(o Evidence) bool { return o.Ref == e.Ref && o.Says == e.Says }) && len(f.Evidence) < maxEvidence {
			f.Evidence = append(f.Evidence, e)
		}
	}
	for _, r := range g.About {
		if !slices.Contains(f.About, r) && len(f.About) < maxEvidence {
			f.About = append(f.About, r)
		}
	}
	f.From = append(f.From, g.From...)
	if g.Severity.Level() > f.Severity.Level() {
		f.Severity = g.Severity
	}
}

// maxEvidence bounds a finding that hundreds of rows report.
const maxEvidence = 64

// Sort orders findings: the worst first, then by code and subject.
func Sort(fs []Finding) {
	slices.SortFunc(fs, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(b.Severity.Level(), a.Severity.Level()), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Subject.Name, b.Subject.Name))
	})
}

// Age is how long the finding is proven to have lasted at t; 0 if that is not known.
func (f *Finding) Age(t model.Time) time.Duration {
	if f.Since.IsZero() {
		return 0
	}
	return t.Sub(f.Since)
}
