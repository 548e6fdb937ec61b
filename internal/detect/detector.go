// Package detect judges a sealed snapshot. Each detector is one value in one file;
// it judges one subject by look-ups, has no clock, and reads and changes nothing.
package detect

import (
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// A Detector is a value: identity, what it reads, and one pure function.
type Detector struct {
	Code       finding.Code
	Title      string // one line, no full stop
	Severity   finding.Severity
	Class      finding.Class
	Each       []model.Table    // whose rows are the subjects
	Needs      []model.Table    // all tables and column groups that Run reads; a node's own are asked for on the subject's node
	Uses       []model.Table    // tables that make it sharper, and may be missing
	ShadowedBy []finding.Code   // folded under one of these if it is about the same thing
	Applies    func(Calico) Fit // nil means always
	Since      string
	Run        func(p *Pass, t model.Table, row int32)
}

// A Pass is one run of one detector over one snapshot.
type Pass struct {
	*model.View
	Now    model.Time // the snapshot's time; detectors never ask the clock
	Calico Calico

	d      *Detector
	seats  seatCache
	doubt  bool
	table  model.Table
	row    int32
	report func(finding.Finding)
}

// Report hands in a finding; what the detector fixes is filled in.
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
		f.Class = finding.Node // nothing is confirmed where it is not known who hands out addresses
	}
	f.About = append(f.About, f.Subject)
	p.report(f)
}

// A Skip is a detector that did not judge, and why. Not judged is not healthy.
type Skip struct {
	Code finding.Code `json:"code"`
	Why  string       `json:"why"`
	// NotApplicable means that there is nothing here for it to judge, which is a
	// complete answer.
	NotApplicable bool `json:"notApplicable,omitempty"`
	// OutOfScope means that it would judge a book that has no source here.
	OutOfScope bool `json:"outOfScope,omitempty"`
	// Nodes are those on which it could not judge; it did on the others.
	Nodes []string `json:"nodes,omitempty"`
}

// A Result is what came out.
type Result struct {
	Findings []finding.Finding
	Skipped  []Skip
	Judged   map[finding.Code]int // subjects
}
