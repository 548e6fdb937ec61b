package repair

import (
	"net/netip"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// planHandle makes a handle count what the blocks hold (1.5). What makes it count more
// needs no proof, for too much only leaks a record; what makes it count less relies on it
// being as it was seen; and to remove it, its container must be gone everywhere.
func planHandle(b *builder, f *finding.Finding) {
	h := b.handleOf(f.Subject.Name)
	if h == nil {
		b.refuse(f, "it is not there any more, and no block names it", "look again")
		return
	}
	held, spelt := b.heldBy(h)
	over, under := b.miscount(h, held)
	switch {
	case !spelt:
		b.refuse(f, "blocks spell it otherwise than its object, and Calico takes both for one", "restart its pod: its DEL frees by the name that both have; then look again")
	case h.Name != "" && model.HandleKey(h.Name) != model.HandleKey(h.ID):
		b.refuse(f, "its object has a name by which nobody finds it", "restart its pod; then delete the object "+h.Name)
	case b.twin(h):
		b.refuse(f, "another handle differs from it by case only", "restart its pod; then delete the one that no block names")
	case len(held) == 0:
		b.orphan(f, h)
	case h.Missing:
		b.target(f, Safe, Proof{})
		b.count(raiseHandles, f, "create", h, held)
	case under > 0 || h.Deleted:
		b.target(f, Safe, Proof{})
		b.count(raiseHandles, f, "raise", h, held)
	case over > 0 && h.Revision != "":
		b.lower(f, h, held)
	case legacyHandle(h, b.view.AttributeOf(held[0])):
		b.refuse(f, "a handle cannot be renamed while its pod lives", "restart its pod: kubectl -n NAMESPACE delete pod POD")
	default:
		b.refuse(f, "it counts what the blocks hold", "look again")
	}
}

// heldBy gives what the blocks hold for a handle; spelt is false if any of it is written
// otherwise than the handle's own name.
func (b *builder) heldBy(h *model.Handle) (held []*model.Allocation, spelt bool) {
	spelt = true
	for a := range b.view.AllocationsBy(h.ID) {
		held = append(held, a)
		spelt = spelt && sanitized(b.view.AttributeOf(a).Handle) == sanitized(h.ID)
	}
	slices.SortFunc(held, func(x, y *model.Allocation) int { return x.IP.Compare(y.IP) })
	return held, spelt
}

func (b *builder) twin(h *model.Handle) bool {
	for other := range b.view.HandlesOf(h.ID) {
		if other.ID != h.ID {
			return true
		}
	}
	return false
}

// miscount is by how much the handle counts more, and by how much less, than the blocks
// hold.
func (b *builder) miscount(h *model.Handle, held []*model.Allocation) (over, under int) {
	left := map[netip.Prefix]int{}
	for _, c := range h.Blocks {
		left[c.CIDR] += c.Count
	}
	for _, a := range held {
		left[b.view.BlockOf(a).CIDR]--
	}
	for _, n := range left {
		over, under = over+max(0, n), under+max(0, -n)
	}
	return over, under
}

// legacyHandle tells that the handle is named after its pod, as Calico 2 did it.
func legacyHandle(h *model.Handle, at *model.Attribute) bool {
	ns, name := at.PodName()
	return name != "" && h.ID == ns+"."+name
}

// count has a handle count what its blocks hold.
func (b *builder) count(at stage, f *finding.Finding, do string, h *model.Handle, held []*model.Allocation) {
	c := &Count{Handle: sanitized(h.ID)}
	if at == cleanUp {
		c.Unchanged = h.Revision // it may be lowered while it is as it was seen
	}
	for _, n := range h.Blocks {
		c.Blocks = append(c.Blocks, n.CIDR)
	}
	for _, a := range held {
		if cidr := b.view.BlockOf(a).CIDR; !slices.Contains(c.Blocks, cidr) {
			c.Blocks = append(c.Blocks, cidr)
		}
	}
	b.step(at, f, do, handleRef(h.ID), Change{Count: c})
}

// lower makes a handle count less. Its container may live; but a call that has counted, and
// not yet written its block, must be none.
func (b *builder) lower(f *finding.Finding, h *model.Handle, held []*model.Allocation) {
	id := model.ContainerOf(h.ID)
	switch {
	case id == "" && model.Reusable(h.ID):
		b.refuse(f, "its name is its owner's, who may be between two writes", "it is harmless: it counts too much, not too little")
		return
	case b.unverifiable() != "":
		b.refuse(f, "every node must say that no CNI call is under way for it, and "+b.unverifiable()+" cannot be asked", "get the agents to answer; it is harmless meanwhile")
		return
	}
	d := &NotInUse{All: true, Calm: true}
	if id != "" {
		d.Containers = []string{id}
	}
	b.target(f, Safe, Proof{NotInUse: d})
	b.count(cleanUp, f, "lower", h, held) // not with the recounts: without its proof it is not done
}

// orphan removes a handle that holds nothing.
func (b *builder) orphan(f *finding.Finding, h *model.Handle) {
	id := model.ContainerOf(h.ID)
	switch {
	case h.Revision == "":
		b.refuse(f, "its revision is not known, so that nobody could tell whether it was used since", "look again")
	case id == "" && b.tunnelGone(h.ID) != "":
		// The name comes back only with its node, and that is gone by a person's word.
		node := model.Ref{Kind: model.KindNode, Name: b.tunnelGone(h.ID)}
		b.target(f, Safe, Proof{NotInUse: &NotInUse{Absent: []model.Ref{node}}})
		b.count(cleanUp, f, "remove", h, nil)
	case id == "" && model.Reusable(h.ID):
		b.refuse(f, "its name is its owner's, who may come back to it", "it is harmless while its owner exists; delete it when that is gone for good")
	case id == "":
		b.refuse(f, "it names no container, so that no node can say that it is gone", "it is harmless; delete it by hand if no block names it")
	case b.unverifiable() != "":
		b.refuse(f, "every node must say that its container is gone, and "+b.unverifiable()+" cannot be asked", "get the agents to answer; it is harmless meanwhile")
	default:
		b.target(f, Safe, Proof{NotInUse: &NotInUse{Containers: []string{id}, All: true}})
		b.count(cleanUp, f, "remove", h, nil) // not with the recounts: without its proof it is not done
	}
}

// tunnelGone gives the node of a tunnel's handle, if a person says that it is gone.
func (b *builder) tunnelGone(id string) string {
	_, node, ok := strings.Cut(id, "-tunnel-addr-")
	if !ok || b.view.NodeByName(node) != nil || !slices.Contains(b.o.NodeGone, node) {
		return ""
	}
	return node
}
