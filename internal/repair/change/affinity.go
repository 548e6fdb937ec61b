package change

import (
	"encoding/json"
	"fmt"
	"net/netip"

	"plumbline.dev/plumbline/internal/calico/object"
	"plumbline.dev/plumbline/internal/model"
)

// An Affinity changes the affinity of a node for a block.
type Affinity struct {
	Node  string            `json:"node"`
	CIDR  netip.Prefix      `json:"cidr"`
	Want  string            `json:"want"`
	From  string            `json:"from,omitempty"` // the state that it must have; empty: absent
	UID   string            `json:"uid,omitempty"`
	Label map[string]string `json:"label,omitempty"` // by which IPAM selects it
	Bare  bool              `json:"bare,omitempty"`  // Calico before 3.30: affinities have no type and no labels
}

// The values of Affinity.Want.
const (
	AffinityGone      = "gone"
	AffinityPending   = "pending"
	AffinityConfirmed = "confirmed"
	AffinityLabelled  = "labelled"
)

// Key is the name in the JSON of a step.
func (a *Affinity) Key() string { return "affinity" }

// Kind is that of affinities.
func (a *Affinity) Kind() model.Kind { return model.KindAffinity }

// Describe says what becomes of it.
func (a *Affinity) Describe() string {
	switch a.Want {
	case AffinityGone:
		return "delete, unless the block names " + a.Node
	case AffinityLabelled:
		return "add the labels by which IPAM selects it"
	default:
		return "set state " + a.Want
	}
}

// LeastRisk is Safe: an affinity without a block routes nothing.
func (a *Affinity) LeastRisk() Risk { return Safe }

// Validate needs no proof: Edit compares with the block.
func (a *Affinity) Validate(u Use) error {
	if u.On.Name != a.Node+"/"+a.CIDR.String() {
		return fmt.Errorf("it changes an affinity of %s, but its object is %s", a.Node, u.On.Name)
	}
	return u.each(unproven)
}

// Merge is true if both want the same.
func (a *Affinity) Merge(with Change) (Change, bool) {
	more, ok := with.(*Affinity)
	return a, ok && a.Want == more.Want
}

const noLabelUndo = "labels by which IPAM selects an affinity are not removed"

// NoUndo says that it is not undone.
func (a *Affinity) NoUndo(string) (why string, undoable bool) {
	if a.Want == AffinityLabelled {
		return noLabelUndo, false
	}
	return "an affinity that agrees with its block is not changed back", false
}

// Undo creates an affinity that was deleted, and deletes one that was created.
func (a *Affinity) Undo(w Write, u Undoer) {
	var was string
	_ = json.Unmarshal(w.Was, &was) // empty: the affinity did not exist
	back := *a
	back.UID = ""
	switch {
	case a.Want == AffinityGone:
		back.Want, back.From = AffinityConfirmed, ""
		if !a.Bare {
			back.Label = object.AffinityLabels(a.Node, a.CIDR)
		}
	case a.Want == AffinityLabelled:
		u.Refuse(w.Finding, noLabelUndo)
		return
	case was == "":
		back.Want, back.From = AffinityGone, a.Want
	default:
		u.Refuse(w.Finding, "a confirmed affinity is not set back")
		return
	}
	u.Need(w.Finding, Proof{})
	u.Step("undo "+w.Do, w.On, &back, w.Finding)
}
