// Package change has the kinds of changes that a plan can make, one file per kind: what each
// reads, the pure edit that computes the new object from the live one, the proof that it needs,
// how it is described, merged and undone. The package is pure: package execute reads and writes.
package change

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/model"
)

// A Change is what a step does to its object. There is one file per kind. To add a kind:
// implement Change (and Editor if it changes an object of a Store), and name it in kinds.
type Change interface {
	// Key is the name of the kind in the JSON of a step.
	Key() string
	// Kind is the kind that the object must have; empty: an object of a node.
	Kind() model.Kind
	// Describe tells the user what is done.
	Describe() string
	// LeastRisk is the lowest risk that a target of the change can have.
	LeastRisk() Risk
	// Validate returns an error if the change must not be done for those findings: a field is
	// missing, or a finding does not have the proof that the change needs. Plans are files and
	// may come from anywhere.
	Validate(u Use) error
	// Merge gives one change that does both; false if they need two writes. On false neither
	// is modified.
	Merge(with Change) (Change, bool)
	// Undo adds to u what undoes the write w, or a refusal.
	Undo(w Write, u Undoer)
	// NoUndo gives why the change is not undone for a finding, or that it can be undone.
	// Neither: the change does not matter for that.
	NoUndo(finding string) (why string, undoable bool)
}

// An Editor is a Change of an object of a Store. The others are done by an agent.
type Editor interface {
	// Reads names the objects that must be read after the object of the step.
	Reads(on model.Ref, live model.Object) ([]model.Ref, error)
	// Edit computes the write. It is pure. ErrAlready: the object has the wanted state.
	// ErrMoved: a condition no longer holds. Any other error: an object cannot be parsed.
	// Dropped may be set together with an error.
	Edit(sc Scene) (Edited, error)
}

// A Divisible is a Change with parts that belong to findings.
type Divisible interface {
	// Without gives a copy without the parts of findings that are gone; nil if nothing is left.
	Without(gone func(finding string) bool) Change
}

// Results of Edit other than an edited object. Nothing is written after either.
var (
	ErrAlready = errors.New("the object already has the wanted state")
	ErrMoved   = errors.New("the object changed since the plan was made")
)

// A Scene is the input of Edit. Invariant: every object of Also was read after Live. The
// write compares Live.UID and Live.Revision, so what Also shows is at least as new as the
// object that is replaced.
type Scene struct {
	Live model.Object
	Also map[model.Ref]model.Object
	// Keep reports whether a finding is still being repaired.
	Keep func(finding string) bool
	Etcd bool // encode as in Calico's etcd, not as in custom resources
	Now  model.Time

	// Of the step:
	On     model.Ref
	For    []string
	Always bool
}

// An Edited is the write that replaces the object that was read.
type Edited struct {
	Object  model.Object
	Delete  bool              // delete Object instead of writing it
	For     []string          // the findings that this write serves; not empty
	Takes   []Taking          // addresses that it takes from whoever has them
	Ends    []Ending          // sandboxes that must be gone, because it deletes what they have
	Gives   []Giving          // addresses that it records for pods that no proof of its findings names
	Acts    *Acting           // what a change on a node does; nil for stores
	Dropped map[string]string // findings that can no longer be repaired, and why
	Was     json.RawMessage   // the changed part before the write, for the journal
	Now     json.RawMessage   // the changed part after the write
}

// moved makes an ErrMoved that names the condition that no longer holds.
func moved(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMoved, fmt.Sprintf(format, args...))
}

// edited makes the Edited for all findings of the step that are still repaired.
func (sc *Scene) edited(o model.Object, was, now any) (Edited, error) {
	e := Edited{Object: o}
	for _, f := range sc.For {
		if sc.Keep(f) || sc.Always {
			e.For = append(e.For, f)
		}
	}
	if len(e.For) == 0 {
		return e, moved("none of its findings is repaired any more")
	}
	var err1, err2 error
	e.Was, err1 = json.Marshal(was)
	e.Now, err2 = json.Marshal(now)
	return e, errors.Join(err1, err2)
}

// deleted is edited for a change that deletes the object.
func (sc *Scene) deleted(was, now any) (Edited, error) {
	e, err := sc.edited(sc.Live, was, now)
	e.Delete = true
	return e, err
}

// A Use is the step that has the change, and the proofs of the findings that it serves.
type Use struct {
	On     model.Ref
	For    []string
	Always bool
	Undo   bool              // the plan was made from a journal: it restores former owners, which may be gone
	Proofs map[string]*Proof // by key of the finding; one for each of For
}

// runs reports that a proof names the container as running with the address.
func (u *Use) runs(container string, ip netip.Addr) bool {
	return slices.ContainsFunc(u.For, func(f string) bool {
		l := u.Proofs[f].Running
		return l != nil && l.Container == container && slices.Contains(l.IPs, ip)
	})
}

// each checks the proof of every finding. No proof may have exceptions: those are only for
// changes that give addresses back.
func (u *Use) each(check func(p *Proof) error) error {
	for _, f := range u.For {
		p := u.Proofs[f]
		if p.NotInUse != nil && len(p.NotInUse.Except) > 0 {
			return errors.New("the verification has exceptions, but the step gives no address back")
		}
		if err := check(p); err != nil {
			return err
		}
	}
	return nil
}

// unproven is the check of a change that needs no verification.
func unproven(*Proof) error { return nil }

// single is a change that needs its own step, reads no other object, and has nothing to say about undo.
type single struct{}

func (single) Reads(model.Ref, model.Object) ([]model.Ref, error) { return nil, nil }
func (single) Merge(Change) (Change, bool)                        { return nil, false }
func (single) NoUndo(string) (string, bool)                       { return "", false }

func appendNew(to []string, s string) []string {
	if slices.Contains(to, s) {
		return to
	}
	return append(to, s)
}
