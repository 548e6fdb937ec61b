package executetest

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"plumbline.dev/plumbline/internal/calico/object"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/change"
)

// restorer puts the old body back when something is taken back.
type restorer struct {
	reach
	r *run
}

func (s *restorer) Put(ctx context.Context, o model.Object) (model.Object, error) {
	if o.Ref.Kind == model.KindBlock {
		if s.r.bodies == nil {
			s.r.bodies = map[model.Ref]json.RawMessage{}
		}
		old, known := s.r.bodies[o.Ref]
		switch live := s.store.get(o.Ref); {
		case s.r.undone && known:
			o.Body = old
		case !known && live != nil:
			s.r.bodies[o.Ref] = live.json()
		}
	}
	return s.reach.Put(ctx, o)
}

// decrementer takes from a handle what was too much when it was first seen, whatever it
// counts by now. It also hides that others wrote it since: a rule of its own forbids to
// lower it then, and would save what counting anew saves.
type decrementer struct {
	reach
	r *run
}

func (d *decrementer) Get(ctx context.Context, ref model.Ref) (model.Object, error) {
	o, err := d.reach.Get(ctx, ref)
	if ref.Kind != model.KindHandle || err != nil || !o.There() {
		return o, err
	}
	if d.r.first == nil {
		d.r.first = map[model.Ref]*row{}
	}
	if d.r.first[ref] == nil {
		d.r.first[ref] = d.store.get(ref)
	}
	return d.r.first[ref].object(), nil
}

func (d *decrementer) Put(ctx context.Context, o model.Object) (model.Object, error) {
	first, live := d.r.first[o.Ref], d.store.get(o.Ref)
	if o.Ref.Kind != model.KindHandle || first == nil || live == nil {
		return d.reach.Put(ctx, o)
	}
	v, err := decode(model.KindHandle, o.Body)
	if err != nil {
		return o, err
	}
	o.UID, o.Revision = live.uid, live.rev()
	next := live.value.(*object.Handle)
	for cidr, n := range first.value.(*object.Handle).Block.V {
		if next == nil {
			break
		}
		next = counted(next, cidr, v.(*object.Handle).Block.V[cidr]-n)
	}
	if next == nil {
		return model.Object{Ref: o.Ref}, d.Delete(ctx, o)
	}
	o.Body = encode(next)
	return d.reach.Put(ctx, o)
}

// halfHandles frees one address of a handle that has two.
func halfHandles(_ *world, p *repair.Plan) {
	dropOrdinals(p, func(o change.Ordinal) bool { return o.To == nil && o.IP.Is6() })
}

// dropOrdinals removes changes of addresses, and steps without any left.
func dropOrdinals(p *repair.Plan, drop func(change.Ordinal) bool) {
	p.Steps = slices.DeleteFunc(p.Steps, func(s repair.Step) bool {
		return len(ordinalsOf(&s)) > 0 && !slices.ContainsFunc(ordinalsOf(&s), func(o change.Ordinal) bool { return !drop(o) })
	})
	for i := range p.Steps {
		if os := ordinalsOf(&p.Steps[i]); os != nil {
			p.Steps[i].Change = slices.DeleteFunc(os, drop)
		}
	}
}

// oneWrite corrects an allocation at once, without the hold by which the collector forgets.
func oneWrite(_ *world, p *repair.Plan) {
	from := map[string]*change.Held{}
	for i := range p.Steps {
		for _, o := range ordinalsOf(&p.Steps[i]) {
			if o.To != nil && strings.HasPrefix(o.To.Handle, model.HoldPrefix) {
				from[o.IP.String()] = o.From
			}
		}
	}
	dropOrdinals(p, func(o change.Ordinal) bool { return o.To != nil && strings.HasPrefix(o.To.Handle, model.HoldPrefix) })
	for i := range p.Steps {
		os := ordinalsOf(&p.Steps[i])
		for j := range os {
			if o := &os[j]; o.From != nil && strings.HasPrefix(o.From.Handle, model.HoldPrefix) {
				o.From = from[o.IP.String()]
			}
		}
	}
}

// unlinks has a device removed that the planner would leave alone.
func unlinks(w *world, p *repair.Plan) {
	for _, f := range p.Refused {
		name, ok := strings.CutPrefix(f.Finding, string(finding.PL3001)+"/")
		if !ok {
			continue
		}
		on, device, _ := strings.Cut(name, "/")
		args := map[string]string{}
		for _, l := range w.node(on).links {
			if l.name == device && l.inode == hostNS { // as it was when it was found
				args["index"] = strconv.Itoa(l.index)
			}
		}
		p.Targets = append(p.Targets, repair.Target{Finding: f.Finding, Risk: change.Safe, Proof: change.Proof{NotInUse: &change.NotInUse{}}})
		p.Steps = append(p.Steps, repair.Step{
			ID: len(p.Steps) + 1, Do: "unlink", On: model.Ref{Kind: model.KindLink, Name: name}, For: []string{f.Finding},
			Change: &change.OnNode{Verb: "unlink", Args: args},
		})
	}
}

// renumber gives the steps of a plan that was tampered with their numbers again.
func renumber(p *repair.Plan) {
	for i := range p.Steps {
		p.Steps[i].ID = i + 1
	}
}
