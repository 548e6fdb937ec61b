package planner

import (
	"slices"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair/change"
)

// beyond gives the defect that must not be repaired while the block is in use; empty if none.
func beyond(block *model.Block) string {
	switch {
	case block.Deleted:
		return "the block is marked deleted: Calico is deleting it, or stopped half-way"
	case block.CIDR != block.CIDR.Masked():
		return "its CIDR is not aligned"
	case block.Name != "" && block.Name != model.BlockName(block.CIDR):
		return "its object is named " + block.Name + ", which Calico does not look up"
	default:
		return ""
	}
}

// broken reports that the lists of a block contradict each other.
func broken(block *model.Block) bool {
	size := model.Size(block.CIDR, change.MaxOrdinals)
	seen := make([]bool, max(size, block.Length))
	if block.Length != size {
		return true
	}
	used := make([]bool, len(block.Attributes))
	for _, slot := range block.Held {
		if !readable(block, slot) || slot[0] < 0 || int(slot[0]) >= size {
			return true
		}
		seen[slot[0]], used[slot[1]] = true, true
	}
	for _, n := range block.Free {
		if n < 0 || int(n) >= size || seen[n] {
			return true
		}
		seen[n] = true
	}
	for _, q := range block.Sequences {
		if q.Number > block.Sequence {
			return true
		}
	}
	twice := map[model.Attribute]bool{}
	for _, at := range block.Attributes {
		if twice[at] && at.Handle != "" {
			return true
		}
		twice[at] = true
	}
	return slices.Contains(seen, false) || slices.Contains(used, false)
}

func readable(block *model.Block, slot model.Slot) bool {
	return slot[1] >= 0 && int(slot[1]) < len(block.Attributes)
}
