package planner

import (
	"cmp"
	"slices"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/change"
)

// finish orders and numbers the steps and completes the plan.
//
// Steps are grouped: two steps are in one group if they share an object or a finding, or if
// a step counts a handle in a block that another step changes, or by link. The order is
//
//  1. by group, in the order in which the first step of each group was added, which is the
//     order of the findings (most severe first), so an interrupted plan leaves at most one
//     group incomplete;
//  2. within a group by stage: see stage for why an interruption after any step is harmless;
//  3. within a stage by kind and name of the object; in actOnNodes in the order in which the
//     planner added the steps, because those depend on each other (delete a route, then wait).
//
// The order is the same for the same input: it does not depend on map iteration.
func (b *builder) finish(p *repair.Plan) {
	b.group()
	slices.SortFunc(b.drafts, func(x, y *draft) int {
		first := cmp.Or(cmp.Compare(x.turn, y.turn), cmp.Compare(x.stage, y.stage))
		if first != 0 || x.stage == actOnNodes {
			return cmp.Or(first, cmp.Compare(x.asked, y.asked))
		}
		return cmp.Or(cmp.Compare(x.On.Kind, y.On.Kind), cmp.Compare(x.On.Name, y.On.Name), cmp.Compare(x.asked, y.asked))
	})
	for i, d := range b.drafts {
		d.ID = i + 1
		p.Steps = append(p.Steps, d.Step)
	}
	for _, t := range b.targets {
		p.Targets = append(p.Targets, *t)
	}
	p.MarkNoUndo()
	p.Refused = b.refused
	if slices.ContainsFunc(p.Targets, func(t repair.Target) bool { return t.Proof.NotInUse != nil && t.Proof.NotInUse.All }) {
		for i := range int32(b.view.Rows(model.Nodes)) {
			p.Nodes = append(p.Nodes, b.view.Node(i).Name)
		}
		slices.Sort(p.Nodes)
	}
}

// group sets the turn of every draft to that of the first draft of its group.
func (b *builder) group() {
	sets := sets{}
	for _, d := range b.drafts {
		for _, key := range d.For {
			sets.join(d.On.String(), key)
		}
		if c, ok := d.Change.(*change.Count); ok { // a handle belongs to the group of the blocks in which it counts
			for _, cidr := range c.Blocks {
				sets.join(d.On.String(), model.Ref{Kind: model.KindBlock, Name: cidr.String()}.String())
			}
		}
	}
	for _, l := range b.links {
		sets.join(l[0], l[1])
	}
	first := map[string]int{} // by group: the smallest draft.asked
	for _, d := range b.drafts {
		root := sets.find(d.On.String())
		if _, ok := first[root]; !ok {
			first[root] = d.asked
		}
		d.turn = first[root]
	}
}
