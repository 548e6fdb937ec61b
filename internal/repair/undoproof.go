package repair

import (
	"slices"

	"plumbline.dev/plumbline/internal/repair/change"
)

// Need adds what must be verified to undo a finding. The proof of several steps of one
// finding is their union: all addresses, containers and nodes. Except stays only if every
// step has exceptions: one that releases or deletes allows none. All is set if any step
// names no node.
func (u *undoer) Need(f string, p change.Proof) {
	t := u.back.Target(f)
	if t == nil {
		u.back.Targets = append(u.back.Targets, Target{Finding: f, Summary: "undo what was done for it", Risk: change.Safe, NoUndo: "an undo cannot be undone"})
		t = &u.back.Targets[len(u.back.Targets)-1]
	}
	if p.Running != nil {
		t.Proof.Running = p.Running
	}
	more := p.NotInUse
	if more == nil {
		return
	}
	d := t.Proof.NotInUse
	switch {
	case d == nil:
		d = &change.NotInUse{Except: slices.Clone(more.Except)}
		t.Proof.NotInUse = d
	case len(d.Except) == 0 || len(more.Except) == 0:
		d.Except = nil // one of the steps releases or deletes: no exceptions
	default:
		d.Except = union(d.Except, more.Except)
	}
	d.All = d.All || len(more.Nodes) == 0
	d.IPs, d.Containers = union(d.IPs, more.IPs), union(d.Containers, more.Containers)
	// The node that ran the pod when it received the record, also if its Node object is gone.
	if was := u.Verified(f).Running; was != nil {
		d.Nodes = union(d.Nodes, []string{was.Node})
	}
	d.Nodes = union(d.Nodes, more.Nodes)
}

// union appends what is not in to yet.
func union[T comparable](to, more []T) []T {
	for _, x := range more {
		if !slices.Contains(to, x) {
			to = append(to, x)
		}
	}
	return to
}
