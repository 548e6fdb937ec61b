package planner

import (
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/change"
)

// planHandle sets the counts of a handle to what the blocks hold. Raising needs no
// verification: a count that is too high only leaks the handle object. Lowering needs an
// unchanged handle and no CNI call for it on any node. Removing needs that its container is
// gone on every node.
func planHandle(b *builder, f *finding.Finding) *repair.Refusal {
	h := b.handleOf(f.Subject.Name)
	if h == nil {
		return &repair.Refusal{Why: "the handle is gone, and no block names it", Advice: "run plumbline check again"}
	}
	held, spelt := b.heldBy(h)
	over, under := b.miscount(h, held)
	switch {
	case !spelt:
		return &repair.Refusal{Why: "the blocks and the handle object spell its ID differently, and Calico treats both as one", Advice: "restart its pod: its DEL releases by the common name; then run plumbline check again"}
	case h.Name != "" && model.HandleKey(h.Name) != model.HandleKey(h.ID):
		return &repair.Refusal{Why: "the handle object has a name that Calico does not look up", Advice: "restart its pod; then delete the object " + h.Name}
	case b.twin(h):
		return &repair.Refusal{Why: "another handle differs only by upper and lower case", Advice: "restart its pod; then delete the handle that no block names"}
	case len(held) == 0:
		return b.orphan(f, h)
	case h.Missing:
		b.target(f, change.Safe, change.Proof{})
		b.count(raiseHandles, f, "create", h, held)
	case under > 0 || h.Deleted:
		b.target(f, change.Safe, change.Proof{})
		b.count(raiseHandles, f, "raise", h, held)
	case over > 0 && h.Revision != "":
		return b.lower(f, h, held)
	case legacyHandle(h, b.view.AttributeOf(held[0])):
		return &repair.Refusal{Why: "a handle cannot be renamed while its pod is running", Advice: "restart its pod: kubectl -n NAMESPACE delete pod POD"}
	default:
		return &repair.Refusal{Why: "the handle counts what the blocks hold", Advice: "run plumbline check again"}
	}
	return nil
}

// lower plans to lower the counts of a handle. Its container may run. What must be verified:
// no CNI call for it is in progress, because an ADD counts in the handle before it allocates
// in the block.
func (b *builder) lower(f *finding.Finding, h *model.Handle, held []*model.Allocation) *repair.Refusal {
	id := model.ContainerOf(h.ID)
	switch {
	case id == "" && model.Reusable(h.ID):
		return &repair.Refusal{Why: "its owner reuses this handle and may be between two writes", Advice: "no action needed: a count that is too high is harmless"}
	case b.unverifiable() != "":
		return &repair.Refusal{Why: "the agent on every node must verify that no CNI call for it is in progress; not possible on " + b.unverifiable(), Advice: "make these agents answer; the handle is harmless meanwhile"}
	case b.homeless() != "":
		return b.homelessRefusal()
	}
	d := &change.NotInUse{All: true, Calm: true}
	if id != "" {
		d.Containers = []string{id}
	}
	b.target(f, change.Safe, change.Proof{NotInUse: d})
	b.count(cleanUp, f, "lower", h, held) // not in stage recountHandles: recounts are done without verification
	return nil
}

// orphan plans to remove a handle without addresses.
func (b *builder) orphan(f *finding.Finding, h *model.Handle) *repair.Refusal {
	id := model.ContainerOf(h.ID)
	switch {
	case h.Revision == "":
		return &repair.Refusal{Why: "its revision is not known, so a later use could not be detected", Advice: "run plumbline check again"}
	case id == "" && b.tunnelGone(h.ID) != "":
		// Only its node reuses this ID, and the user passed --node-gone for it.
		node := model.Ref{Kind: model.KindNode, Name: b.tunnelGone(h.ID)}
		b.target(f, change.Safe, change.Proof{NotInUse: &change.NotInUse{Absent: []model.Ref{node}}})
		b.count(cleanUp, f, "remove", h, nil)
	case id == "" && model.Reusable(h.ID):
		return &repair.Refusal{Why: "its owner may reuse this handle", Advice: "it is harmless while its owner exists; delete it when the owner is gone permanently"}
	case id == "":
		return &repair.Refusal{Why: "it names no container that nodes could verify as gone", Advice: "it is harmless; delete it by hand if no block names it"}
	case b.unverifiable() != "":
		return &repair.Refusal{Why: "the agent on every node must verify that its container is gone; not possible on " + b.unverifiable(), Advice: "make these agents answer; the handle is harmless meanwhile"}
	case b.homeless() != "":
		return b.homelessRefusal()
	default:
		b.target(f, change.Safe, change.Proof{NotInUse: &change.NotInUse{Containers: []string{id}, All: true}})
		b.count(cleanUp, f, "remove", h, nil) // not in stage recountHandles: recounts are done without verification
	}
	return nil
}

// homeless names a node that has an affinity but no Node object: its machine may still run, and a
// CNI call there may be about to use any handle. Empty if there is none, or the user passed
// --node-gone for all.
func (b *builder) homeless() string {
	b.surveyNodes()
	return b.nodes.homeless
}

func (b *builder) findHomeless() string {
	for i := range b.view.Snapshot().Affinities {
		a := &b.view.Snapshot().Affinities[i]
		if a.Type != "virtual" && a.Node != "" && b.view.NodeByName(a.Node) == nil && !slices.Contains(b.o.NodeGone, a.Node) {
			return a.Node
		}
	}
	return ""
}

func (b *builder) homelessRefusal() *repair.Refusal {
	node := b.homeless()
	return refuse("if the node is permanently removed, pass --node-gone "+node+"; the handle is harmless meanwhile", "node %s has an affinity but no Node object: a CNI call on it could not be seen", node)
}

// tunnelGone gives the node of a tunnel address handle, if the user passed --node-gone for it and it has no Node object.
func (b *builder) tunnelGone(id string) string {
	_, node, ok := strings.Cut(id, "-tunnel-addr-")
	if !ok || b.view.NodeByName(node) != nil || !slices.Contains(b.o.NodeGone, node) {
		return ""
	}
	return node
}
