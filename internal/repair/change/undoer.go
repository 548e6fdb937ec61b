package change

import (
	"encoding/json"
	"net/netip"

	"plumbline.dev/plumbline/internal/model"
)

// A Write is a write of a step that a journal says was or may have been done.
type Write struct {
	Do       string
	On       model.Ref
	Finding  string   // the first of For that is undone
	For      []string // the findings that it served
	Was, Now json.RawMessage
}

// An Undoer collects the plan that undoes writes.
type Undoer interface {
	// Wants reports whether a finding is undone.
	Wants(finding string) bool
	// Verified gives the proof that the finding had in the plan that is undone.
	Verified(finding string) Proof
	// Need adds what must be verified to undo a finding.
	Need(finding string, p Proof)
	Step(do string, on model.Ref, c Change, findings ...string)
	// Recount has the counts of a handle set to what the blocks hold, after all steps.
	Recount(finding, handle string, blocks ...netip.Prefix)
	Refuse(finding, why string)
}
