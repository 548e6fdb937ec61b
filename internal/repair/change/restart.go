package change

import "plumbline.dev/plumbline/internal/model"

// A Restart deletes a pod of Calico; its controller creates it again, and it rereads everything.
type Restart struct {
	single
	UID string `json:"uid"`
}

// RestartOwner is the only owner whose pods are restarted: its next pod comes to the same node.
const RestartOwner = "DaemonSet/calico-node"

// Key is the name in the JSON of a step.
func (r *Restart) Key() string { return "restart" }

// Kind is that of pods.
func (r *Restart) Kind() model.Kind { return model.KindPod }

// Describe says who creates it again.
func (r *Restart) Describe() string { return "delete: its controller creates it again" }

// LeastRisk is Disruptive: Calico on the node restarts.
func (r *Restart) LeastRisk() Risk { return Disruptive }

// Validate needs no proof.
func (r *Restart) Validate(u Use) error { return u.each(unproven) }

// Undo refuses.
func (r *Restart) Undo(w Write, u Undoer) { u.Refuse(w.Finding, w.On.Name+noPodUndo) }

// restarted is what the journal keeps of a pod that was restarted.
type restarted struct {
	Node  string `json:"node"`
	Owner string `json:"owner"`
	Ready bool   `json:"ready,omitempty"`
}

// Edit deletes the pod, unless it is gone. Condition: it is a pod of the DaemonSet calico-node.
func (r *Restart) Edit(sc Scene) (Edited, error) {
	if !sc.Live.There() || sc.Live.UID != r.UID {
		return Edited{}, ErrAlready
	}
	p, err := ReadPod(sc.Live)
	switch {
	case err != nil:
		return Edited{}, err
	case p.Owner != RestartOwner || p.Node == "":
		return Edited{}, moved("%s is not a pod of %s on a node", sc.Live.Ref.Name, RestartOwner)
	}
	return sc.deleted(restarted{p.Node, p.Owner, p.Ready}, "restarted")
}
