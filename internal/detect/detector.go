// Package detect evaluates a sealed snapshot. Each detector is one value in one file; it
// evaluates one subject by look-ups, has no clock, reads no source and changes nothing.
package detect

import (
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// A Detector is a value: its identity, the tables that it reads, and one pure function.
type Detector struct {
	Code       finding.Code
	Title      string // one line, no full stop
	Severity   finding.Severity
	Class      finding.Class
	Each       []model.Table    // the rows of these tables are the subjects
	Needs      []model.Table    // tables and column groups without which Run is skipped; node tables must be complete on the subject's node
	Partly     []model.Table    // of Needs: if only a part of these was read, Run runs on that part, and the rest is said
	Uses       []model.Table    // tables that Run also reads and that may be missing
	ShadowedBy []finding.Code   // shown under a finding of one of these codes if both are about the same object; no cycles
	Applies    func(Calico) Fit // nil means always
	Since      string
	Run        func(p *Pass, t model.Table, row int32)
}

// A Pass is one run of one detector over one snapshot.
type Pass struct {
	*model.View
	Now    model.Time // the snapshot's time; detectors never read a clock
	Calico Calico

	d        *Detector
	seats    seatCache   // shared by all detectors of a run
	doubt    bool        // Applies returned Maybe: every finding gets class Node
	table    model.Table // with row: the subject that Run evaluates now
	row      int32
	report   func(finding.Finding) // merges findings with the same key
	felix    *bool                 // whether any pod of the cluster runs Felix; nil until it is needed
	fars     map[string]*farNode   // see far
	recorded *recordedWays         // what Calico's records say of ways between nodes; nil until it is needed
	untold   map[string][]string   // by reason: nodes of which what was read does not tell what Run compares
}

// Report adds a finding. Report sets Code, State and From; Severity and Class default to the
// detector's.
func (p *Pass) Report(f finding.Finding) {
	f.Code = p.d.Code
	f.State = finding.Unconfirmed
	f.From = []model.Subject{{Table: p.table, Ref: p.RefOf(p.table, p.row)}}
	if f.Severity == "" {
		f.Severity = p.d.Severity
	}
	if f.Class == "" {
		f.Class = p.d.Class
	}
	if p.doubt {
		f.Class = finding.Node // nothing is confirmed while the IPAM or network plugin is unknown
	}
	f.About = append(f.About, f.Subject)
	p.report(f)
}

// A Skip is a detector that did not run, or not on all nodes, and why. Not checked does not
// mean healthy.
type Skip struct {
	Code finding.Code `json:"code"`
	Why  string       `json:"why"` // the detector did not run
	// NotApplicable means that the cluster has nothing to check: coverage is complete.
	NotApplicable bool `json:"notApplicable,omitempty"`
	// OutOfScope means that the detector needs a source that is not available (no agents).
	OutOfScope bool `json:"outOfScope,omitempty"`
	// Unknown means that what was read does not tell what the detector compares.
	Unknown bool `json:"unknown,omitempty"`
	// Nodes are the nodes on which the detector did not run; it ran on the others.
	Nodes []string `json:"nodes,omitempty"`
}

// A Result holds the findings of one run.
type Result struct {
	Findings []finding.Finding    // sorted by finding.Sort, each key once
	Skipped  []Skip               // detectors that did not run, or not on all nodes
	Judged   map[finding.Code]int // number of subjects that each detector evaluated
}
