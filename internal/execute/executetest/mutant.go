package executetest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"regexp"
	"slices"

	"plumbline.dev/plumbline/internal/execute"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/change"
)

// A mutant is Plumbline without one safety check. It is made by wrapping the stores, nodes or
// plan of the executor: the product itself has no switches for it.
type mutant struct {
	plan    func(*world, *repair.Plan)
	store   func(*run, reach) execute.Store
	nodes   func(execute.Nodes) execute.Nodes
	sees    func(*model.Snapshot) // changes what the check reads
	byName  bool
	flaws   []string                                // checks that agents do not make
	reads   func(*world, model.Ref, map[string]any) // changes what agents report of an object
	pods    func(reach) execute.Pods
	but     string // the run without harm is that of this name, which has the same plan and flaws
	forgets bool   // it has no journal
	undo    bool   // it does harm only in an undo
	faults  []string
	harm    string // regular expression of the harm that it must do: other harm proves nothing
}

// caught reports whether a run without a safety check does the harm that the check prevents,
// for a seed at which the run with the check does no harm.
func caught(seed uint64, name string) (bool, error) {
	m, err := mutantOf(name)
	if err != nil {
		return false, err
	}
	err = runSeed(seed, options{Mutant: name, Faults: m.faults})
	if err == nil || !regexp.MustCompile(m.harm).MatchString(err.Error()) {
		return false, nil
	}
	sane := options{Faults: m.faults, Mutant: m.but}
	return runSeed(seed, sane) == nil, err
}

// Those that are not mutants have the same plan as one, and all checks.
const byIndex = "by-index" // with an agent that compares the index

var sound0 = map[string]mutant{byIndex: {plan: unlinks}}

// mutantNames gives the names of all, in order.
func mutantNames() []string { return slices.Sorted(maps.Keys(mutants)) }

func mutantOf(name string) (mutant, error) {
	m, ok := mutants[name]
	if !ok {
		m, ok = sound0[name]
	}
	if !ok && name != "" {
		return m, fmt.Errorf("no mutant %q", name)
	}
	if m.plan == nil {
		m.plan = func(*world, *repair.Plan) {}
	}
	if m.store == nil {
		m.store = func(_ *run, r reach) execute.Store { return r }
	}
	if m.sees == nil {
		m.sees = func(*model.Snapshot) {}
	}
	if m.reads == nil {
		m.reads = func(*world, model.Ref, map[string]any) {}
	}
	if m.pods == nil {
		m.pods = func(r reach) execute.Pods { return r }
	}
	if m.nodes == nil {
		m.nodes = func(n execute.Nodes) execute.Nodes { return n }
	}
	return m, nil
}

// The mutants, each with the faults with which it is caught soonest.
var mutants = allMutants(ownMutants, nodeMutants, storeMutants, machineMutants)

func allMutants(all ...map[string]mutant) map[string]mutant {
	out := map[string]mutant{}
	for _, m := range all {
		maps.Copy(out, m)
	}
	return out
}

var ownMutants = map[string]mutant{
	"no-compare":      {store: func(_ *run, r reach) execute.Store { return noCompare{r} }, faults: []string{"leaked", "leaked-old", "unrecorded", "overcount"}, harm: `sequence number|was freed|went from|counts \d+ in|does not count`},
	"no-verification": {nodes: func(n execute.Nodes) execute.Nodes { return yes{n} }, faults: []string{"frozen-add", "frozen-count"}, harm: `was freed, and|about to hold`},
	"one-node":        {plan: oneNode, nodes: func(n execute.Nodes) execute.Nodes { return properName{n} }, faults: []string{"stale-nodename"}, harm: `was freed, and`},
	"cri-alone":       {nodes: func(n execute.Nodes) execute.Nodes { return criAlone{n} }, faults: []string{"frozen-add", "frozen-count"}, harm: `was freed, and|about to hold`},
	"write-order":     {plan: blocksFirst, store: func(_ *run, r reach) execute.Store { return countsAll{r} }, faults: []string{"unrecorded", "released"}, harm: `does not count it yet`},
	"old-body":        {undo: true, store: func(r *run, to reach) execute.Store { return &restorer{to, r} }, faults: []string{"leaked", "leaked-old", "unrecorded"}, harm: `sequence number went`},
	"decrement":       {store: func(r *run, to reach) execute.Store { return &decrementer{to, r} }, faults: []string{"overcount"}, harm: `counts \d+ in`},
	"half-handle":     {plan: halfHandles, faults: []string{"leaked-twice"}, harm: `PL1001/fd00.* is left`},
	"one-write":       {plan: oneWrite, faults: []string{"wrong-node"}, harm: `was repaired, and now|collector is stuck`},
	"by-name":         {plan: unlinks, byName: true, but: byIndex, faults: []string{"device-left"}, harm: `is running behind it`},
}

func (m *mutant) journal(j *journal) func(repair.Entry) error {
	if m.forgets {
		return func(repair.Entry) error { return nil }
	}
	return j.write
}

// noCompare writes without comparing the revision.
type noCompare struct{ reach }

func (b noCompare) Put(ctx context.Context, o model.Object) (model.Object, error) {
	b.now(&o)
	return b.reach.Put(ctx, o)
}

func (b noCompare) Delete(ctx context.Context, o model.Object) error {
	b.now(&o)
	return b.reach.Delete(ctx, o)
}

func (b noCompare) now(o *model.Object) {
	b.w.ticks(b.w.pick(8)) // writes that the comparison would have detected
	o.UID, o.Revision = "", ""
	if r := b.store.get(o.Ref); r != nil {
		o.UID, o.Revision = r.uid, r.rev()
	}
}

// yes answers for every node that nothing is in use.
type yes struct{ execute.Nodes }

func (yes) Ask(_ context.Context, node string, ips []netip.Addr, containers []string) (model.Verification, error) {
	return model.Verification{Node: node, Complete: true, All: len(ips)+len(containers) == 0}, nil
}

// criAlone verifies only with the runtime's list, without network namespaces and CNI calls.
type criAlone struct{ execute.Nodes }

func (c criAlone) Ask(ctx context.Context, node string, ips []netip.Addr, containers []string) (model.Verification, error) {
	w, err := c.Nodes.Ask(ctx, node, ips, containers)
	w.Attachments, w.Calls, w.Results, w.Links = nil, nil, nil, nil
	return w, err
}

// properName takes it for granted that Calico calls every node by its name.
type properName struct{ execute.Nodes }

func (p properName) Ask(ctx context.Context, node string, ips []netip.Addr, containers []string) (model.Verification, error) {
	w, err := p.Nodes.Ask(ctx, node, ips, containers)
	w.CalicoName, w.ConfigName = node, node
	return w, err
}

// oneNode verifies only on the node that IPAM names.
func oneNode(_ *world, p *repair.Plan) {
	for i := range p.Targets {
		d := p.Targets[i].Proof.NotInUse
		if d == nil {
			continue
		}
		d.All, d.Nodes = false, nil
		for j := range p.Steps {
			for _, o := range ordinalsOf(&p.Steps[j]) {
				if o.For == p.Targets[i].Finding && o.From != nil && o.From.Node != "" {
					d.Nodes = []string{o.From.Node}
				}
			}
		}
	}
}

// countsAll takes it for granted that every handle counts what a block is about to hold.
type countsAll struct{ reach }

func (c countsAll) Get(ctx context.Context, ref model.Ref) (model.Object, error) {
	o, err := c.reach.Get(ctx, ref)
	if err != nil || ref.Kind != model.KindHandle {
		return o, err
	}
	counts := map[string]int{}
	for _, b := range c.w.calico.all(model.KindBlock) {
		counts[b.ref.Name] = perBlock
	}
	o.Ref, o.UID, o.Revision = ref, "any", "any"
	o.Body, err = json.Marshal(map[string]any{"handleID": ref.Name, "block": counts})
	return o, err
}

// blocksFirst records in the block before the handle counts it.
func blocksFirst(_ *world, p *repair.Plan) {
	slices.SortStableFunc(p.Steps, func(a, b repair.Step) int { return rank(&a) - rank(&b) })
}

// ordinalsOf gives the addresses that a step changes.
func ordinalsOf(s *repair.Step) change.Ordinals {
	os, _ := s.Change.(change.Ordinals)
	return os
}

func rank(s *repair.Step) int {
	if _, count := s.Change.(*change.Count); count {
		return 1
	}
	return 0
}
