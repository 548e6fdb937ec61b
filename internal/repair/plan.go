// Package repair turns findings into plans. A plan is data: which objects are changed how,
// what that relies on, what must be proven before, and how it is taken back. The package
// is pure: it decides and computes, and package execute acts.
package repair

import (
	"slices"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// Schema is the version of plans.
const Schema = 1

// A Risk says what a step may do to what lives.
type Risk string

// The risks, the smallest first.
const (
	Safe        Risk = "safe"        // touches only what nobody uses
	Disruptive  Risk = "disruptive"  // a pod or a route may notice
	Destructive Risk = "destructive" // a pod restarts
)

// Level orders risks; one that is not known is above all.
func (r Risk) Level() int {
	if i := slices.Index([]Risk{Safe, Disruptive, Destructive}, r); i >= 0 {
		return i
	}
	return 99
}

// A Plan is what a person reads, saves, and applies.
type Plan struct {
	Schema       int        `json:"schema"`
	ID           string     `json:"id"`
	Cluster      string     `json:"cluster"` // GUID of the cluster that it is for
	Undoes       string     `json:"undoes,omitempty"`
	Rebuild      bool       `json:"rebuild,omitempty"`
	Made         model.Time `json:"made"` // by the API server's clock
	Version      string     `json:"version,omitempty"`
	KubeRevision string     `json:"revision,omitempty"` // the newest of the API server that was seen: a smaller one later means that it was restored
	EtcdRevision string     `json:"ledger,omitempty"`   // the newest of Calico's etcd, likewise
	Nodes        []string   `json:"nodes,omitempty"`    // all that there were, where a proof needs every one
	Targets      []Target   `json:"targets"`
	Steps        []Step     `json:"steps"`
	Refused      []Refusal  `json:"refused,omitempty"`
}

// A Target is one finding that the plan repairs.
type Target struct {
	Finding  string             `json:"finding"` // its key
	Summary  string             `json:"summary"`
	Evidence []finding.Evidence `json:"evidence,omitempty"`
	Risk     Risk               `json:"risk"`
	Proof    Proof              `json:"proof"`              // what must hold before every write for it, and after the last
	NoUndo   string             `json:"noUndo,omitempty"`   // why it cannot be taken back
	Watch    int64              `json:"watch,omitempty"`    // seconds for which it must stay true to be cured: Calico's collector may still be at it
	Touches  []string           `json:"touches,omitempty"`  // living pods that notice, named
	Warnings []string           `json:"warnings,omitempty"` // what a person should know before
}

// A Refusal is a finding that the plan leaves alone.
type Refusal struct {
	Finding string `json:"finding"`
	Why     string `json:"why"`
	Advice  string `json:"advice,omitempty"` // what a person can do
}

// Risk is the largest of its targets'.
func (p *Plan) Risk() Risk {
	r := Safe
	for i := range p.Targets {
		if p.Targets[i].Risk.Level() > r.Level() {
			r = p.Targets[i].Risk
		}
	}
	return r
}

// Writes tells that it changes what Calico writes too.
func (p *Plan) Writes() bool {
	return slices.ContainsFunc(p.Steps, func(s Step) bool {
		hung := s.On.Kind == model.KindMount || s.On.Kind == model.KindSandbox // which Calico knows nothing of
		return s.Await == nil && !hung
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
