package execute

import "plumbline.dev/plumbline/internal/repair"

// A Progress is reported after each step.
type Progress struct {
	Step    *repair.Step
	N, Of   int
	Outcome repair.Outcome
	Why     string
	Undo    bool
}

// A Verdict is the outcome of a finding or a step. The zero Verdict means that a proof holds.
type Verdict struct {
	Outcome repair.Outcome
	Why     string
}

// A Result is the outcome of a plan, by step ID and by finding.
type Result struct {
	Steps    map[int]Verdict
	Findings map[string]Verdict
}

// Repaired tells that what was wanted is so: we wrote it, or it was so already.
func (v Verdict) Repaired() bool { return v.Outcome == repair.Done || v.Outcome == repair.Already }
