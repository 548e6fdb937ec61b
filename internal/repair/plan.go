// Package repair has plans. A plan is data: which objects are changed and how, the conditions
// of each change, what the agents must verify before each write, and how it is undone. Package
// planner makes plans of findings. The package is pure: it computes; package execute reads and
// writes.
package repair

import (
	"slices"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair/change"
)

// Schema is the version of the plan format.
const Schema = 2

// A Plan is what the user reads, saves and applies. Plans come from files: call Valid before use.
type Plan struct {
	Schema       int        `json:"schema"`                 // version of this format
	ID           string     `json:"id"`                     // as history, apply --resume and undo take it
	Cluster      string     `json:"cluster"`                // GUID of the cluster that it is for
	Undoes       string     `json:"undoes,omitempty"`       // the plan that it reverts
	Rebuild      bool       `json:"rebuild,omitempty"`      // made by plan --rebuild
	MassChange   bool       `json:"massChange,omitempty"`   // made by plan --allow-mass-change
	Made         model.Time `json:"made"`                   // by the API server's clock
	Version      string     `json:"version,omitempty"`      // of Plumbline
	KubeRevision string     `json:"kubeRevision,omitempty"` // newest resourceVersion that was read; if it is smaller later, the cluster was restored
	EtcdRevision string     `json:"etcdRevision,omitempty"` // newest revision of Calico's etcd, likewise
	Nodes        []string   `json:"nodes,omitempty"`        // all nodes when the plan was made, if a proof has All
	Calico       string     `json:"calico,omitempty"`       // its version when the plan was made
	Accepted     *Accepted  `json:"accepted,omitempty"`     // nil: Calico's version is tested
	Warnings     []string   `json:"warnings,omitempty"`     // about the cluster
	Targets      []Target   `json:"targets"`
	Steps        []Step     `json:"steps"`
	Refused      []Refusal  `json:"refused,omitempty"`
}

// Accepted is a version of Calico that is not tested for repair, and why the user accepts it.
type Accepted struct {
	Version string `json:"version"` // of Calico
	Reason  string `json:"reason"`  // in the words of the user
}

// A Target is one finding that the plan repairs.
type Target struct {
	Finding  string             `json:"finding"` // its key
	Summary  string             `json:"summary"` // of the finding
	Evidence []finding.Evidence `json:"evidence,omitempty"`
	Risk     change.Risk        `json:"risk"`
	Proof    change.Proof       `json:"proof"`              // what must be verified before every write for it, and after the last
	NoUndo   string             `json:"noUndo,omitempty"`   // why it cannot be undone; empty: it can
	Watch    int64              `json:"watch,omitempty"`    // seconds to watch the repair: the IPAM garbage collector may still act on its cache
	Touches  []string           `json:"touches,omitempty"`  // running pods that are affected
	Warnings []string           `json:"warnings,omitempty"` // what the user should know before apply
}

// A Refusal is a finding that the plan does not repair, and why. planner.Make fills in Finding.
type Refusal struct {
	Finding string `json:"finding"`          // its key
	Why     string `json:"why"`              // in words
	Advice  string `json:"advice,omitempty"` // what the user can do
}

// Risk is the highest risk of its targets.
func (p *Plan) Risk() change.Risk {
	r := change.Safe
	for i := range p.Targets {
		if p.Targets[i].Risk.Level() > r.Level() {
			r = p.Targets[i].Risk
		}
	}
	return r
}

// Writes reports that the plan changes something that Calico also writes.
func (p *Plan) Writes() bool {
	return slices.ContainsFunc(p.Steps, func(s Step) bool {
		hung := s.On.Kind == model.KindMount || s.On.Kind == model.KindSandbox // Calico does not write these
		_, waits := s.Change.(*change.Await)
		return !waits && !hung
	})
}

// Target finds the one with that key.
func (p *Plan) Target(key string) *Target {
	for i := range p.Targets {
		if p.Targets[i].Finding == key {
			return &p.Targets[i]
		}
	}
	return nil
}
