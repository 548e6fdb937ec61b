package change

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"

	"plumbline.dev/plumbline/internal/calico/object"
	"plumbline.dev/plumbline/internal/lossless"
	"plumbline.dev/plumbline/internal/model"
)

// Reads names the block.
func (a *Affinity) Reads(model.Ref, model.Object) ([]model.Ref, error) {
	return []model.Ref{a.block()}, nil
}

func (a *Affinity) block() model.Ref { return model.Ref{Kind: model.KindBlock, Name: a.CIDR.String()} }

// Edit changes the affinity of a node for a block. BIRD announces routes by affinity.
// Invariants, compared with the block as it is now: an affinity that the block names is not
// removed, and an affinity is confirmed only if the block names it.
func (a *Affinity) Edit(sc Scene) (Edited, error) {
	v, err := readAffinity(sc.Live)
	if err != nil {
		return Edited{}, err
	}
	state := ""
	if sc.Live.There() {
		state = cmp.Or(v.State.V, AffinityConfirmed)
	}
	named, there, err := a.named(sc)
	if err != nil {
		return Edited{}, err
	}
	if a.reached(sc, v, state) {
		return Edited{}, ErrAlready
	}
	if err := a.compare(sc, state, named, there); err != nil {
		return Edited{}, err
	}
	if a.Want == AffinityGone {
		return sc.deleted(state, nil)
	}
	o := sc.Live
	if len(a.Label) > 0 && !sc.Etcd {
		o.Labels = maps.Clone(o.Labels)
		if o.Labels == nil {
			o.Labels = map[string]string{}
		}
		maps.Copy(o.Labels, a.Label)
	}
	if a.Want != AffinityLabelled {
		if o.Body, err = a.body(v, sc); err != nil {
			return Edited{}, err
		}
	}
	return sc.edited(o, state, a.Want)
}

// reached reports that the affinity already is as wanted.
func (a *Affinity) reached(sc Scene, v object.Affinity, state string) bool {
	switch a.Want {
	case AffinityGone:
		return !sc.Live.There()
	case AffinityLabelled:
		return sc.Live.There() && hasLabels(sc.Live.Labels, a.Label)
	default:
		return a.Want == state && deletedText(v) != "true"
	}
}

// compare returns ErrMoved if the affinity is not as the plan saw it, or the block forbids the
// change. Named: the block names the node; there: the block exists.
func (a *Affinity) compare(sc Scene, state string, named, there bool) error {
	switch {
	case a.UID != "" && sc.Live.UID != a.UID:
		return moved("the affinity was deleted and created again")
	case state != a.From && a.Want != AffinityLabelled:
		return moved("the affinity is %s now", cmp.Or(state, "absent"))
	case a.Want == AffinityGone && named:
		return moved("the block names %s", a.Node)
	case a.Want == AffinityConfirmed && !named:
		return moved("the block does not name %s", a.Node)
	case a.Want == AffinityPending && there:
		return moved("the block exists")
	case a.Want == AffinityLabelled && !sc.Live.There():
		return moved("the affinity is gone")
	default:
		return nil
	}
}

func readAffinity(o model.Object) (object.Affinity, error) {
	if !o.There() || len(o.Body) == 0 { // etcd: old versions wrote an empty value for a confirmed affinity
		return object.Affinity{}, nil
	}
	return object.Decode(o.Ref.String(), o.Body, func(v *object.Affinity) *lossless.Extra { return &v.Extra })
}

// named reports whether the block names the node, and whether the block exists.
func (a *Affinity) named(sc Scene) (named, there bool, err error) {
	o := sc.Also[a.block()]
	if !o.There() {
		return false, false, nil
	}
	b, err := readBlock(o)
	if err != nil {
		return false, true, err
	}
	return b.Affinity.V == "host:"+a.Node || b.HostAffinity.V == a.Node, true, nil
}

// body encodes the affinity with state a.Want. All other fields, unknown ones included, stay.
func (a *Affinity) body(v object.Affinity, sc Scene) (json.RawMessage, error) {
	v.State = lossless.Some(a.Want)
	switch {
	case sc.Etcd:
		v.Deleted = lossless.Some(json.RawMessage(`false`))
	case !sc.Live.There():
		v.Node, v.CIDR = lossless.Some(a.Node), lossless.Some(a.CIDR.String())
		if !a.Bare { // its CRD would refuse it
			v.Type = lossless.Some("host")
		}
		v.Deleted = lossless.Some(json.RawMessage(`"false"`))
	case deletedText(v) == "true":
		v.Deleted = lossless.Some(json.RawMessage(`"false"`))
	}
	body, err := lossless.Encode(v, v.Extra)
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", sc.Live.Ref, err)
	}
	return body, nil
}

func deletedText(v object.Affinity) string {
	var text string
	if json.Unmarshal(v.Deleted.V, &text) == nil {
		return text
	}
	return string(v.Deleted.V)
}

func hasLabels(all, want map[string]string) bool {
	for k, v := range want {
		if all[k] != v {
			return false
		}
	}
	return true
}
