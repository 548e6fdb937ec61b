package planner

import (
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair/change"
)

// heldBy gives the allocations of a handle in all blocks; spelt is false if any block
// spells the handle ID differently.
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

// miscount gives by how much the handle counts more (over) and less (under) than the blocks
// hold, summed over blocks.
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

// legacyHandle reports that the handle is named after its pod, as Calico 2 did.
func legacyHandle(h *model.Handle, at *model.Attribute) bool {
	ns, name := at.PodName()
	return name != "" && h.ID == ns+"."+name
}

// count adds the step that sets the counts of a handle to what its blocks hold.
func (b *builder) count(at stage, f *finding.Finding, do string, h *model.Handle, held []*model.Allocation) {
	c := &change.Count{Handle: sanitized(h.ID)}
	if at == cleanUp {
		c.Unchanged = h.Revision // lower or remove it only at this revision
	}
	for _, n := range h.Blocks {
		c.Blocks = append(c.Blocks, n.CIDR)
	}
	for _, a := range held {
		if cidr := b.view.BlockOf(a).CIDR; !slices.Contains(c.Blocks, cidr) {
			c.Blocks = append(c.Blocks, cidr)
		}
	}
	b.step(at, f, do, handleRef(h.ID), c)
}

// recount adds the last step for a handle: set its counts to what the blocks then hold. It
// lowers only at the revision of the view: an ADD counts before it allocates.
func (b *builder) recount(f *finding.Finding, id string, held []*model.Allocation) {
	c := &change.Count{Handle: sanitized(id)}
	for _, a := range held {
		if cidr := b.view.BlockOf(a).CIDR; !slices.Contains(c.Blocks, cidr) {
			c.Blocks = append(c.Blocks, cidr)
		}
	}
	if h := b.handleOf(id); h != nil {
		c.Unchanged = h.Revision
		for _, n := range h.Blocks {
			if !slices.Contains(c.Blocks, n.CIDR) {
				c.Blocks = append(c.Blocks, n.CIDR)
			}
		}
	}
	b.step(recountHandles, f, "recount", handleRef(id), c)
}
