// Package finding defines what a detector reports: a difference between Kubernetes, the
// Calico datastore and the nodes, with its evidence. It formats nothing and reads nothing.
package finding

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/model"
)

// A Code identifies a kind of finding. It is never reused for another kind.
type Code string

// A Severity is the impact of a finding.
type Severity string

// The severities.
const (
	Info    Severity = "info"
	Warning Severity = "warning"
	Error   Severity = "error"
)

// Level orders severities.
func (s Severity) Level() int { return slices.Index([]Severity{Info, Warning, Error}, s) }

// A State is whether a finding is confirmed.
type State string

// A finding starts unconfirmed, because the sources are never read at the same instant. It
// is confirmed once the difference has lasted for the minimum duration of its class.
const (
	Unconfirmed State = "unconfirmed"
	Confirmed   State = "confirmed"
)

// A Class determines how long a difference of this kind may last in a healthy cluster.
type Class string

// The classes. Package audit has the minimum duration of each.
const (
	Now       Class = "now"       // confirmed at once: one object contradicts itself
	Transient Class = "transient" // two writes of one protocol
	Teardown  Class = "teardown"  // a sandbox may be starting or being removed
	Leak      Class = "leak"      // the IPAM garbage collector may still release it
	Kernel    Class = "kernel"    // Felix may still correct it: two of its resyncs
	Node      Class = "node"      // never confirmed by waiting: only the node can confirm it
)

// An Evidence is one observation that a finding depends on.
type Evidence struct {
	Ref model.Ref `json:"ref"` // the object, present or absent
	// Says is compared between a read and its reread: it contains what the finding depends
	// on, and nothing that changes by itself.
	Says     string     `json:"says"`
	Revision string     `json:"revision,omitempty"` // of the object, as it was read
	Since    model.Time `json:"since,omitzero"`     // Says has been true at least since then, by the API server's clock; zero: unknown
}

// A Cause is how a finding came about, according to the logs.
type Cause struct {
	Says      string     `json:"says"`      // one sentence
	Certainty string     `json:"certainty"` // proven, likely
	At        model.Time `json:"at,omitzero"`
	Lines     []string   `json:"lines,omitempty"`    // file:line of the evidence
	NotShown  []string   `json:"notShown,omitempty"` // what the logs do not show
}

// A Finding is one difference. Detectors fill the first block, package audit the second.
type Finding struct {
	Code     Code       `json:"code"`
	Severity Severity   `json:"severity"`
	Subject  model.Ref  `json:"subject"`
	Summary  string     `json:"summary"` // one sentence
	Evidence []Evidence `json:"evidence,omitempty"`
	Class    Class      `json:"class"`

	State        State      `json:"state"`
	Since        model.Time `json:"since,omitzero"`        // known to have lasted since then
	RecheckAfter model.Time `json:"recheckAfter,omitzero"` // when an unconfirmed finding can be confirmed; zero if waiting does not help
	Why          string     `json:"why,omitempty"`         // why it is unconfirmed; empty if confirmed
	Explains     []string   `json:"explains,omitempty"`    // keys of the findings that are shown under it

	Causes    []Cause         `json:"causes,omitempty"`    // from logs, if they were read
	Node      string          `json:"node,omitempty"`      // on which it is, if it is on one
	Namespace string          `json:"namespace,omitempty"` // of the subject, if it has one
	About     []model.Ref     `json:"about,omitempty"`     // Subject and related objects; findings with a common one can be folded
	From      []model.Subject `json:"-"`                   // the rows that the detector evaluated, for the reread
}

// Key identifies the finding: CODE/SUBJECT, stable between runs, as users type it.
func (f *Finding) Key() string { return Key{f.Code, f.Subject.Name}.String() }

// Keys are the keys of all findings of some lists.
func Keys(lists ...[]Finding) map[string]bool {
	out := map[string]bool{}
	for _, fs := range lists {
		for i := range fs {
			out[fs[i].Key()] = true
		}
	}
	return out
}

// InNamespace tells that the finding is about anything in a namespace: of a duplicate address,
// one of its pods is enough.
func (f *Finding) InNamespace(ns string) bool {
	return f.Namespace == ns || slices.ContainsFunc(f.About, func(r model.Ref) bool { return strings.HasPrefix(r.Name, ns+"/") && r.Kind == model.KindPod })
}

// Proven is the time since when all evidence is known to be true: the latest Since; zero if
// one of them is unknown.
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

// Same reports whether both findings have the same evidence: refs and Says, in order.
func (f *Finding) Same(g *Finding) bool {
	return slices.EqualFunc(f.Evidence, g.Evidence, func(a, b Evidence) bool { return a.Ref == b.Ref && a.Says == b.Says })
}

// Merge adds the evidence, objects and rows of another report of the same finding. The
// summary stays that of f; the higher severity wins.
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

// maxEvidence limits the evidence of a finding that hundreds of rows report.
const maxEvidence = 64

// Sort orders findings: highest severity first, then those that are causes of others, then by
// code and subject.
func Sort(fs []Finding) {
	slices.SortFunc(fs, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(b.Severity.Level(), a.Severity.Level()), a.Code.rank()-b.Code.rank(), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Subject.Name, b.Subject.Name))
	})
}

// causes are codes about a cluster or a whole node, the widest first: what they say of pods comes
// after them.
var causes = []Code{PL9003, PL5001, PL5003, PL4009, PL4005, PL4008, PL3008, PL5005, PL3007, PL4007, PL5002}

// rank is the place of a code among findings of one severity.
func (c Code) rank() int {
	if i := slices.Index(causes, c); i >= 0 {
		return i
	}
	return len(causes)
}

// Age is how long the finding is known to have lasted at t; 0 if that is unknown.
func (f *Finding) Age(t model.Time) time.Duration {
	if f.Since.IsZero() {
		return 0
	}
	return t.Sub(f.Since)
}
