package repair

import (
	"fmt"
	"slices"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair/change"
)

// A Step changes one object by one atomic update. Its conditions are compared with the
// object as read during execution, and the update uses the revision of that read, not of the
// plan.
type Step struct {
	ID  int       `json:"id"` // 1 + index in Plan.Steps
	Do  string    `json:"do"` // verb for the user: release, record, create …
	On  model.Ref `json:"on"`
	For []string  `json:"for"` // keys of the targets that it serves; not empty
	// Always means that the step is done without verification, also if its findings were
	// dropped, as long as something was written for one of them. Invariant: the change is a
	// Count and only sets a handle to what the blocks hold.
	Always bool `json:"always,omitempty"`

	Change change.Change `json:"-"` // see MarshalJSON; not nil in a valid plan
}

// Serves reports whether the step is for that finding.
func (s *Step) Serves(key string) bool { return slices.Contains(s.For, key) }

// Describe tells the user what the step does.
func (s *Step) Describe() string {
	if s.Change == nil {
		return s.Do
	}
	return s.Change.Describe()
}

// Frees reports that the step only releases addresses.
func (s *Step) Frees() bool {
	os, ok := s.Change.(change.Ordinals)
	return ok && os.Free()
}

// Reads names the objects that must be read after the object of the step.
func (s *Step) Reads(live model.Object) ([]model.Ref, error) {
	e, ok := s.Change.(change.Editor)
	if !ok {
		return nil, nil
	}
	return e.Reads(s.On, live)
}

// Edit computes the write of the step; see Editor.
func (s *Step) Edit(sc change.Scene) (change.Edited, error) {
	e, ok := s.Change.(change.Editor)
	if !ok {
		return change.Edited{}, fmt.Errorf("step %d: it does not change an object", s.ID)
	}
	sc.On, sc.For, sc.Always = s.On, s.For, s.Always
	return e.Edit(sc)
}
