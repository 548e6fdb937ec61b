package repair

import (
	"reflect"
	"slices"

	"plumbline.dev/plumbline/internal/calico/object"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// A builder collects what actions ask for. One object is changed by one step however
// many findings it is about, so steps are merged as they come.
type builder struct {
	view *model.View
	o    Options

	planned     map[string]bool // keys of the findings that are being planned: confirmed and asked for
	unconfirmed map[string]bool // and of those that are only suspected
	targets     []*Target
	repaired    map[string]bool // their keys
	refused     []Refusal
	drafts      []*draft
	at          map[place]*draft
	links       [][2]string // findings and objects that belong together although no step says so
	nodes       nodeVerifiers
}

// A draft is a step that is not yet numbered.
type draft struct {
	Step
	stage stage
	asked int // in which order
	turn  int // of all that it hangs together with; see finish
}

// A place is where steps are merged.
type place struct {
	stage stage
	on    model.Ref
}

// target says that a finding is repaired, and what must hold live before every write for
// it. The steps follow.
func (b *builder) target(f *finding.Finding, risk Risk, proof Proof) *Target {
	t := &Target{Finding: f.Key(), Summary: f.Summary, Evidence: f.Evidence, Risk: risk, Proof: proof}
	b.targets, b.repaired[f.Key()] = append(b.targets, t), true
	return t
}

// link has what a finding needs done in one order with what is done to an object for
// others.
func (b *builder) link(f *finding.Finding, to model.Ref) {
	b.links = append(b.links, [2]string{f.Key(), to.String()})
}

// refuse leaves a finding alone.
func (b *builder) refuse(f *finding.Finding, why, advice string) {
	b.refused = append(b.refused, Refusal{Finding: f.Key(), Why: why, Advice: advice})
}

// step asks for a change of one object for a finding that is a target. What is asked of
// the same object at the same stage becomes one step; what cannot be one stays apart, in
// the order in which it was asked for.
func (b *builder) step(at stage, f *finding.Finding, do string, on model.Ref, c Change) {
	if a := c.Affinity; a != nil && a.Want != AffinityGone && a.Label == nil {
		a.Label = object.AffinityLabels(a.Node, a.CIDR) // IPAM finds none without
	}
	p := place{at, on}
	if d := b.at[p]; d != nil && d.merge(&c) {
		if !slices.Contains(d.For, f.Key()) {
			d.For = append(d.For, f.Key())
		}
		return
	}
	d := &draft{stage: at, asked: len(b.drafts), Step: Step{Do: do, On: on, For: []string{f.Key()}, Always: at == recountHandles, Change: c}}
	b.drafts = append(b.drafts, d)
	b.at[p] = d
}

// merge takes in what else is asked of the same object; false if that needs a step of its
// own.
func (d *draft) merge(c *Change) bool {
	switch {
	case d.Ordinals != nil && c.Ordinals != nil:
		return d.mergeOrdinals(c.Ordinals)
	case d.Mend != nil && c.Mend != nil:
		for _, o := range c.Mend.Owners {
			if !slices.ContainsFunc(d.Mend.Owners, func(have Ordinal) bool { return have.IP == o.IP }) {
				d.Mend.Owners = append(d.Mend.Owners, o)
			}
		}
	case d.Count != nil && c.Count != nil:
		d.Count.merge(c.Count)
	case d.Affinity != nil && c.Affinity != nil && d.Affinity.Want == c.Affinity.Want:
	case d.NewBlock != nil && c.NewBlock != nil:
		d.NewBlock.Born = append(d.NewBlock.Born, c.NewBlock.Born...)
	case d.Evict != nil && c.Evict != nil && d.Evict.UID == c.Evict.UID && d.Evict.Has.Container == c.Evict.Has.Container:
		d.Evict.Keeps = append(d.Evict.Keeps, c.Evict.Keeps...) // ended once, when all that it shares is another's
	case d.Node != nil && c.Node != nil:
		return reflect.DeepEqual(d.Node, c.Node)
	default:
		return false
	}
	return true
}

// mergeOrdinals takes in more addresses. Two findings may ask for the same of one address,
// so that it is done if either is left; they cannot ask for different things in one write.
func (d *draft) mergeOrdinals(more []Ordinal) bool {
	for _, o := range more {
		for _, have := range d.Ordinals {
			if have.IP == o.IP && (!reflect.DeepEqual(have.From, o.From) || !reflect.DeepEqual(have.To, o.To)) {
				return false
			}
		}
	}
	for _, o := range more {
		if !slices.ContainsFunc(d.Ordinals, func(have Ordinal) bool { return have.IP == o.IP && have.For == o.For }) {
			d.Ordinals = append(d.Ordinals, o)
		}
	}
	return true
}

func (c *Count) merge(with *Count) {
	for _, p := range with.Blocks {
		if !slices.Contains(c.Blocks, p) {
			c.Blocks = append(c.Blocks, p)
		}
	}
	for _, r := range with.Raise {
		i := slices.IndexFunc(c.Raise, func(have Raise) bool { return have.Block == r.Block })
		if i < 0 {
			c.Raise = append(c.Raise, Raise{Block: r.Block, IPs: slices.Clone(r.IPs)})
			continue
		}
		for _, ip := range r.IPs {
			if !slices.Contains(c.Raise[i].IPs, ip) {
				c.Raise[i].IPs = append(c.Raise[i].IPs, ip)
			}
		}
	}
	if c.Unchanged == "" {
		c.Unchanged = with.Unchanged // who asks for more care gets it
	}
}
