package repair

import (
	"reflect"
	"slices"

	"plumbline.dev/plumbline/internal/calico/object"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// A builder collects targets, steps and refusals of the actions. Invariant: within one
// stage, changes of one object are one step where they can be merged, however many findings
// need them.
type builder struct {
	view *model.View
	o    Options

	planned     map[string]bool // keys of all given findings; true if confirmed. Complete before the first action runs
	unconfirmed map[string]bool // keys of the unconfirmed ones
	targets     []*Target
	repaired    map[string]bool // keys of the targets so far
	refused     []Refusal
	drafts      []*draft
	at          map[place]*draft
	links       [][2]string // findings and objects to order as one group although no step connects them
	nodes       nodeVerifiers
}

// A draft is a step that is not yet numbered.
type draft struct {
	Step
	stage stage
	asked int // index in drafts: the order in which actions added them
	turn  int // position of its group: the smallest asked in the group; see finish
}

// A place identifies steps that can be merged: the same object in the same stage.
type place struct {
	stage stage
	on    model.Ref
}

// target adds a finding as a target, with what must be verified before every write for it.
// The action adds its steps after this call.
func (b *builder) target(f *finding.Finding, risk Risk, proof Proof) *Target {
	t := &Target{Finding: f.Key(), Summary: f.Summary, Evidence: f.Evidence, Risk: risk, Proof: proof}
	b.targets, b.repaired[f.Key()] = append(b.targets, t), true
	return t
}

// link puts the steps of a finding into the same group as the steps of an object.
func (b *builder) link(f *finding.Finding, to model.Ref) {
	b.links = append(b.links, [2]string{f.Key(), to.String()})
}

// refuse records that a finding is not repaired.
func (b *builder) refuse(key string, no *Refusal) {
	b.refused = append(b.refused, Refusal{Finding: key, Why: no.Why, Advice: no.Advice})
}

// step adds a change of one object for a finding that is a target. Changes of the same
// object in the same stage become one step; those that cannot be merged become separate
// steps in the order of the calls.
func (b *builder) step(at stage, f *finding.Finding, do string, on model.Ref, c Change) {
	if a := c.Affinity; a != nil && a.Want != affinityGone && a.Label == nil {
		a.Label = object.AffinityLabels(a.Node, a.CIDR) // IPAM does not select affinities without labels
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

// merge adds a change of the same object to the step; false if it needs its own step. On
// false the step is unchanged.
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
		d.Evict.Keeps = append(d.Evict.Keeps, c.Evict.Keeps...) // one eviction, after all its duplicate addresses are recorded for others
	case d.Node != nil && c.Node != nil:
		return reflect.DeepEqual(d.Node, c.Node)
	default:
		return false
	}
	return true
}

// mergeOrdinals adds addresses. Two findings may need the same change of one address: it is
// listed once per finding, so that it is done while either finding is still repaired. It is
// false if they need different changes of one address: one write cannot do both.
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
		c.Unchanged = with.Unchanged // keep the stricter condition
	}
}
