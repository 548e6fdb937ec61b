package repair

import (
	"cmp"
	"encoding/json"
	"fmt"

	"plumbline.dev/plumbline/internal/calico/object"
	"plumbline.dev/plumbline/internal/lossless"
	"plumbline.dev/plumbline/internal/model"
)

// The values of Affinity.Want.
const (
	affinityGone      = "gone"
	affinityPending   = "pending"
	affinityConfirmed = "confirmed"
	affinityLabelled  = "labelled"
)

// editAffinity changes the affinity of a node for a block. BIRD announces routes by
// affinity. Invariants, compared with the block as it is now: an affinity that the block
// names is not removed, and an affinity is confirmed only if the block names it.
func (s *Step) editAffinity(sc Scene) (Edited, error) {
	a := s.Affinity
	v, err := readAffinity(sc.Live)
	if err != nil {
		return Edited{}, err
	}
	named, there, err := s.named(sc)
	if err != nil {
		return Edited{}, err
	}
	state := ""
	if sc.Live.There() {
		state = cmp.Or(v.State.V, affinityConfirmed)
	}
	switch {
	case a.Want == affinityGone && !sc.Live.There(),
		a.Want == state && a.Want != affinityGone && deletedText(v) != "true",
		a.Want == affinityLabelled && sc.Live.There() && has(sc.Live.Labels, a.Label):
		return Edited{}, ErrAlready
	case a.UID != "" && sc.Live.UID != a.UID:
		return Edited{}, moved("the affinity was deleted and created again")
	case state != a.From && a.Want != affinityLabelled:
		return Edited{}, moved("the affinity is %s now", orAbsent(state))
	case a.Want == affinityGone && named:
		return Edited{}, moved("the block names %s", a.Node)
	case a.Want == affinityConfirmed && !named:
		return Edited{}, moved("the block does not name %s", a.Node)
	case a.Want == affinityPending && there:
		return Edited{}, moved("the block exists")
	case a.Want == affinityLabelled && !sc.Live.There():
		return Edited{}, moved("the affinity is gone")
	}
	o := sc.Live
	if a.Want == affinityGone {
		e, err := s.complete(sc, o, state, nil)
		e.Delete = true
		return e, err
	}
	if len(a.Label) > 0 && !sc.Etcd {
		o.Labels = with(o.Labels, a.Label)
	}
	if a.Want != affinityLabelled {
		if o.Body, err = a.body(v, sc); err != nil {
			return Edited{}, err
		}
	}
	return s.complete(sc, o, state, a.Want)
}

func readAffinity(o model.Object) (object.Affinity, error) {
	if !o.There() || len(o.Body) == 0 { // etcd: old versions wrote an empty value for a confirmed affinity
		return object.Affinity{}, nil
	}
	return object.Decode(o.Ref.String(), o.Body, func(v *object.Affinity) *lossless.Extra { return &v.Extra })
}

// named reports whether the block names the node, and whether the block exists.
func (s *Step) named(sc Scene) (named, there bool, err error) {
	o := sc.Also[model.Ref{Kind: model.KindBlock, Name: s.Affinity.CIDR.String()}]
	if !o.There() {
		return false, false, nil
	}
	b, err := readBlock(o)
	if err != nil {
		return false, true, err
	}
	return b.Affinity.V == "host:"+s.Affinity.Node || b.HostAffinity.V == s.Affinity.Node, true, nil
}

// body encodes the affinity with state a.Want. All other fields, unknown ones included, stay.
func (a *Affinity) body(v object.Affinity, sc Scene) (json.RawMessage, error) {
	v.State = lossless.Some(a.Want)
	switch {
	case sc.Etcd:
		v.Deleted = lossless.Some(json.RawMessage(`false`))
	case !sc.Live.There():
		v.Node, v.Type, v.CIDR = lossless.Some(a.Node), lossless.Some("host"), lossless.Some(a.CIDR.String())
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

func has(all, want map[string]string) bool {
	for k, v := range want {
		if all[k] != v {
			return false
		}
	}
	return true
}

func with(all, more map[string]string) map[string]string {
	out := map[string]string{}
	for _, m := range []map[string]string{all, more} {
		for k, v := range m {
			out[k] = v
		}
	}
	return out
}

func orAbsent(s string) string { return cmp.Or(s, "absent") }
