package planner

import (
	"fmt"
	"slices"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/change"
)

// A builder collects targets, steps and refusals of the planners. Invariant: within one
// stage, changes of one object are one step where they can be merged, however many findings
// need them.
type builder struct {
	view *model.View
	o    Options

	version *repair.Refusal // why nothing is repaired on this version of Calico; nil: it may be

	planned     map[string]bool // keys of all given findings; true if confirmed. Complete before the first planner runs
	unconfirmed map[string]bool // keys of the unconfirmed ones
	targets     []*repair.Target
	repaired    map[string]bool // keys of the targets so far
	refused     []repair.Refusal
	drafts      []*draft
	at          map[place]*draft
	links       [][2]string // findings and objects to order as one group although no step connects them
	nodes       nodeVerifiers
}

// A draft is a step that is not yet numbered.
type draft struct {
	repair.Step
	stage stage
	asked int // index in drafts: the order in which planners added them
	turn  int // position of its group: the smallest asked in the group; see finish
}

// A place identifies steps that can be merged: the same object in the same stage.
type place struct {
	stage stage
	on    model.Ref
}

// target adds a finding as a target, with what must be verified before every write for it.
// The planner adds its steps after this call.
func (b *builder) target(f *finding.Finding, risk change.Risk, proof change.Proof) *repair.Target {
	t := &repair.Target{Finding: f.Key(), Summary: f.Summary, Evidence: f.Evidence, Risk: risk, Proof: proof}
	b.targets, b.repaired[f.Key()] = append(b.targets, t), true
	return t
}

// link puts the steps of a finding into the same group as the steps of an object.
func (b *builder) link(f *finding.Finding, to model.Ref) {
	b.links = append(b.links, [2]string{f.Key(), to.String()})
}

// refuse makes a refusal of a formatted reason.
func refuse(advice, format string, args ...any) *repair.Refusal {
	return &repair.Refusal{Why: fmt.Sprintf(format, args...), Advice: advice}
}

// refuse records that a finding is not repaired.
func (b *builder) refuse(key string, no *repair.Refusal) {
	b.refused = append(b.refused, repair.Refusal{Finding: key, Why: no.Why, Advice: no.Advice})
}

// changeAt gives what is planned for an object in a stage; nil if nothing is.
func (b *builder) changeAt(at stage, on model.Ref) change.Change {
	if d := b.at[place{at, on}]; d != nil {
		return d.Change
	}
	return nil
}

// step adds a change of one object for a finding that is a target. Changes of the same
// object in the same stage become one step; those that cannot be merged become separate
// steps in the order of the calls.
func (b *builder) step(at stage, f *finding.Finding, do string, on model.Ref, c change.Change) {
	p := place{at, on}
	if d := b.at[p]; d != nil {
		if both, ok := d.Change.Merge(c); ok {
			d.Change = both
			if !slices.Contains(d.For, f.Key()) {
				d.For = append(d.For, f.Key())
			}
			return
		}
	}
	d := &draft{stage: at, asked: len(b.drafts), Step: repair.Step{Do: do, On: on, For: []string{f.Key()}, Always: at == recountHandles, Change: c}}
	b.drafts = append(b.drafts, d)
	b.at[p] = d
}
