package repair

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"plumbline.dev/plumbline/internal/model"
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
//     action added the steps, because those depend on each other (delete a route, then wait).
//
// The order is the same for the same input: it does not depend on map iteration.
func (b *builder) finish(p *Plan) {
	sets := sets{}
	for _, d := range b.drafts {
		for _, key := range d.For {
			sets.join(d.On.String(), key)
		}
		if d.Count != nil { // a handle belongs to the group of the blocks in which it counts
			for _, c := range d.Count.Blocks {
				sets.join(d.On.String(), model.Ref{Kind: model.KindBlock, Name: c.String()}.String())
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
	for i := range p.Targets {
		if t := &p.Targets[i]; t.NoUndo == "" {
			t.NoUndo = p.noUndo(t)
		}
	}
	p.Refused = b.refused
	if slices.ContainsFunc(p.Targets, func(t Target) bool { return t.Proof.NotInUse != nil && t.Proof.NotInUse.All }) {
		for i := range int32(b.view.Rows(model.Nodes)) {
			p.Nodes = append(p.Nodes, b.view.Node(i).Name)
		}
		slices.Sort(p.Nodes)
	}
}

// noUndo gives why no step for a finding can be undone; empty if at least one can.
func (p *Plan) noUndo(t *Target) string {
	why := ""
	for i := range p.Steps {
		s := &p.Steps[i]
		if !s.Serves(t.Finding) {
			continue
		}
		switch {
		case s.Mend != nil:
			why = "a repaired block structure is not reverted"
		case s.Affinity != nil && s.Affinity.Want == affinityLabelled:
			why = "labels by which IPAM selects an affinity are not removed"
		case s.Affinity != nil:
			why = "an affinity that agrees with its block is not changed back"
		case slices.ContainsFunc(s.Ordinals, func(o Ordinal) bool { return o.For == t.Finding && o.From != nil && o.To != nil }):
			why = "an address that is recorded for the pod that uses it is not taken from it"
		case s.Ordinals != nil, s.Endpoint != nil, s.Annotate != nil:
			return ""
		case s.Count != nil && why == "":
			why = "a handle with the right count is not changed back"
		}
	}
	return why
}

// sets is a union-find over names (objects and findings): x -> parent. A name without an
// entry is its own root. Invariant: a parent is smaller than its child, so the root is the
// smallest name of its set, whatever the order of joins.
type sets map[string]string

func (s sets) find(x string) string {
	for {
		up, ok := s[x]
		if !ok || up == x {
			return x
		}
		if next, ok := s[up]; ok {
			s[x] = next
		}
		x = up
	}
}

// join merges the sets of x and y.
func (s sets) join(x, y string) {
	x, y = s.find(x), s.find(y)
	if x == y {
		return
	}
	s[max(x, y)] = min(x, y)
}

// Takes estimates how long the writes take within the budget. The time that Calico needs to
// react is not included.
func (p *Plan) Takes(blocksPerSecond, handlesPerSecond float64) time.Duration {
	var blocks, others float64
	for i := range p.Steps {
		switch s := &p.Steps[i]; {
		case s.Await != nil:
		case s.On.Kind == model.KindBlock:
			blocks++
		default:
			others++
		}
	}
	seconds := 0.0
	if blocksPerSecond > 0 {
		seconds += blocks / blocksPerSecond
	}
	if handlesPerSecond > 0 {
		seconds += others / handlesPerSecond
	}
	return time.Duration(seconds * float64(time.Second))
}

// Revisions gives the newest revision of the API server and of Calico's etcd in the view; empty if unknown.
func Revisions(v *model.View) (api, etcd string) {
	newest := map[bool]uint64{}
	apart := v.Info().Datastore == "etcd"
	for _, c := range v.Snapshot().Coverage {
		if n, err := strconv.ParseUint(c.Revision, 10, 64); err == nil && !c.Table.OfNode() {
			inEtcd := apart && c.Table >= model.Cluster && c.Table != model.Components
			newest[inEtcd] = max(newest[inEtcd], n)
		}
	}
	text := func(n uint64) string {
		if n == 0 {
			return ""
		}
		return strconv.FormatUint(n, 10)
	}
	return text(newest[false]), text(newest[true])
}
