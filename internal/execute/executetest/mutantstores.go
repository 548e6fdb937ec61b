package executetest

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/calico/object"
	"plumbline.dev/plumbline/internal/execute"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/change"
)

// storeMutants read or write otherwise than they must.
var storeMutants = map[string]mutant{
	"no-compare-blocks":     {store: noCompareOf(model.KindBlock), faults: []string{"leaked", "leaked-old", "unrecorded", "released"}, harm: `sequence number|was freed|went from|uses it`},
	"no-compare-pods":       {store: noCompareOf(model.KindPod), faults: []string{"unshown", "other-sandbox", "shared"}, harm: `annotated|annotation|publishes|evicted`},
	"stale-blocks":          {store: staleOf(model.KindBlock), faults: []string{"leaked", "leaked-old", "unrecorded"}, harm: `sequence number|was freed|went from|uses it|does not count`},
	"always-out-of-service": {store: func(_ *run, r reach) execute.Store { return tainted{r} }, faults: []string{"frozen-add", "frozen-count", "stale-nodename"}, harm: freedInUse},
	"any-effect": {store: func(_ *run, r reach) execute.Store {
		return nodesAs{r, func(b *model.NodeBody) {
			for i := range b.Taints {
				b.Taints[i] = model.OutOfServiceTaint + ":NoExecute"
			}
		}}
	}, faults: []string{"frozen-add", "frozen-count", "stale-nodename", "force-deleted"}, harm: freedInUse},
	"no-sequence":     {store: func(_ *run, r reach) execute.Store { return keepsNumber{r} }, faults: []string{"leaked", "unrecorded"}, harm: `sequence number`},
	"lossy":           {store: func(_ *run, r reach) execute.Store { return lossy{r} }, faults: []string{"leaked", "unrecorded"}, harm: `an unknown field was lost`},
	"no-journal":      {forgets: true, faults: []string{"wrong-node", "wrong-pod"}, harm: `is still held by`},
	"holds-left":      {plan: forgetsHolds, faults: []string{"wrong-node", "wrong-pod"}, harm: `is still held by`},
	"no-raise":        {plan: forgetsRaises, store: func(_ *run, r reach) execute.Store { return countsAll{r} }, faults: []string{"unrecorded", "released"}, harm: `does not count it yet`},
	"unknown-is-free": {store: func(_ *run, r reach) execute.Store { return offers{r} }, faults: []string{"not-listed", "bad-index"}, harm: freedInUse},
}

func noCompareOf(k model.Kind) func(*run, reach) execute.Store {
	return func(_ *run, r reach) execute.Store { return noCompareKind{noCompare{r}, k} }
}

type noCompareKind struct {
	noCompare
	kind model.Kind
}

func (n noCompareKind) Put(ctx context.Context, o model.Object) (model.Object, error) {
	if o.Ref.Kind != n.kind {
		return n.reach.Put(ctx, o)
	}
	return n.noCompare.Put(ctx, o)
}

func (n noCompareKind) Delete(ctx context.Context, o model.Object) error {
	if o.Ref.Kind != n.kind {
		return n.reach.Delete(ctx, o)
	}
	return n.noCompare.Delete(ctx, o)
}

// staleOf reads objects of a kind once, and compares with what is there now.
func staleOf(k model.Kind) func(*run, reach) execute.Store {
	return func(r *run, to reach) execute.Store { return stale{to, r, k} }
}

type stale struct {
	reach
	r    *run
	kind model.Kind
}

func (s stale) Get(ctx context.Context, ref model.Ref) (model.Object, error) {
	o, err := s.reach.Get(ctx, ref)
	if ref.Kind != s.kind || err != nil || !o.There() {
		return o, err
	}
	if s.r.first == nil {
		s.r.first = map[model.Ref]*row{}
	}
	if s.r.first[ref] == nil {
		s.r.first[ref] = s.store.get(ref)
	}
	o.Body = s.r.first[ref].json()
	return o, nil
}

// nodesAs reads nodes otherwise than they are.
type nodesAs struct {
	reach
	edit func(*model.NodeBody)
}

func (s nodesAs) Get(ctx context.Context, ref model.Ref) (model.Object, error) {
	o, err := s.reach.Get(ctx, ref)
	var b model.NodeBody
	if ref.Kind != model.KindNode || err != nil || !o.There() || json.Unmarshal(o.Body, &b) != nil {
		return o, err
	}
	s.edit(&b)
	o.Body, err = json.Marshal(b)
	return o, err
}

// tainted takes every node for one that is out of service.
type tainted struct{ reach }

func (s tainted) Get(ctx context.Context, ref model.Ref) (model.Object, error) {
	o, err := s.reach.Get(ctx, ref)
	if ref.Kind == model.KindNode && err == nil && o.There() {
		o.Body, err = json.Marshal(model.NodeBody{Silent: true, Changed: 1, Taints: []string{model.OutOfServiceTaint + ":NoExecute"}})
	}
	return o, err
}

// offers makes addresses free of which nobody knows who uses them.
type offers struct{ reach }

func (s offers) Put(ctx context.Context, o model.Object) (model.Object, error) {
	if o.Ref.Kind == model.KindBlock {
		if v, err := decode(model.KindBlock, o.Body); err == nil {
			b := v.(*object.Block)
			for n, at := range b.Allocations.V {
				if at != nil && int(*at) < len(b.Attributes.V) && strings.HasPrefix(b.Attributes.V[*at].Handle.V, model.UnknownPrefix) {
					b.Allocations.V[n] = nil
					if !slices.Contains(b.Unallocated.V, int32(n)) {
						b.Unallocated.V = append(b.Unallocated.V, int32(n))
					}
				}
			}
			o.Body = encode(b)
		}
	}
	return s.reach.Put(ctx, o)
}

// keepsNumber writes blocks without counting their sequence number up.
type keepsNumber struct{ reach }

func (s keepsNumber) Put(ctx context.Context, o model.Object) (model.Object, error) {
	if live := s.store.get(o.Ref); live != nil && o.Ref.Kind == model.KindBlock {
		if v, err := decode(model.KindBlock, o.Body); err == nil {
			b := v.(*object.Block)
			b.Sequence = live.value.(*object.Block).Sequence
			o.Body = encode(b)
		}
	}
	return s.reach.Put(ctx, o)
}

// lossy writes only the fields that it knows.
type lossy struct{ reach }

func (s lossy) Put(ctx context.Context, o model.Object) (model.Object, error) {
	if o.Ref.Kind == model.KindBlock {
		if v, err := decode(model.KindBlock, o.Body); err == nil {
			b := v.(*object.Block)
			b.Extra = nil
			o.Body = encode(b)
		}
	}
	return s.reach.Put(ctx, o)
}

// forgetsHolds leaves addresses with the temporary handle.
func forgetsHolds(_ *world, p *repair.Plan) {
	dropOrdinals(p, func(o change.Ordinal) bool {
		return o.From != nil && strings.HasPrefix(o.From.Handle, model.HoldPrefix)
	})
}

// forgetsRaises records addresses for handles that do not count them.
func forgetsRaises(_ *world, p *repair.Plan) {
	p.Steps = slices.DeleteFunc(p.Steps, func(s repair.Step) bool {
		c, ok := s.Change.(*change.Count)
		return ok && !s.Always && len(c.Raise) > 0
	})
}
