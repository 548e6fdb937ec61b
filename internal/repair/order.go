package repair

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"plumbline.dev/plumbline/internal/model"
)

// finish orders and numbers the steps. Those that hang together by an object or a finding
// are done together, so that a plan that is cut off leaves few findings half repaired; what
// hurts most comes first, as the findings do.
func (b *builder) finish(p *Plan) {
	sets := sets{}
	for _, d := range b.drafts {
		for _, key := range d.For {
			sets.join(d.On.String(), key)
		}
		if d.Count != nil { // a handle is counted together with what its blocks give
			for _, c := range d.Count.Blocks {
				sets.join(d.On.String(), model.Ref{Kind: model.KindBlock, Name: c.String()}.String())
			}
		}
	}
	for _, l := range b.links {
		sets.join(l[0], l[1])
	}
	first := map[string]int{} // of those that hang together, the one that was asked for first
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

// noUndo tells why nothing that is done for a finding can be taken back; empty if some can.
func (p *Plan) noUndo(t *Target) string {
	why := ""
	for i := range p.Steps {
		s := &p.Steps[i]
		if !s.Serves(t.Finding) {
			continue
		}
		switch {
		case s.Mend != nil:
			why = "a block that was mended is not broken again"
		case s.Affinity != nil && s.Affinity.Want == AffinityLabelled:
			why = "labels by which IPAM finds an affinity are not taken off again"
		case s.Affinity != nil:
			why = "an affinity that agrees with its block is not made to differ again"
		case slices.ContainsFunc(s.Ordinals, func(o Ordinal) bool { return o.For == t.Finding && o.From != nil && o.To != nil }):
			why = "an address that is recorded for the one that uses it is not taken from it"
		case s.Ordinals != nil, s.Endpoint != nil, s.Annotate != nil:
			return ""
		case s.Count != nil && why == "":
			why = "a handle that counts what is held is not made to count wrongly again"
		}
	}
	return why
}

// sets are names that belong together.
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

// join makes the smaller name stand for both, so that the order of joining does not show.
func (s sets) join(x, y string) {
	x, y = s.find(x), s.find(y)
	if x == y {
		return
	}
	s[max(x, y)] = min(x, y)
}

// Takes is how long its writes take at what the budget allows. What Calico does about it
// afterwards comes on top.
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

// Revisions are the newest of the API server and of Calico's etcd that the view shows.
func Revisions(v *model.View) (api, etcd string) {
	newest := map[bool]uint64{}
	apart := v.Info().Datastore == "etcd"
	for _, c := range v.Snapshot().Coverage {
		if n, err := strconv.ParseUint(c.Revision, 10, 64); err == nil && !c.Table.OfNode() {
			ledgers := apart && c.Table >= model.Cluster && c.Table != model.Components
			newest[ledgers] = max(newest[ledgers], n)
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
