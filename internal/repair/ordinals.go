package repair

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/calico/object"
	"plumbline.dev/plumbline/internal/lossless"
	"plumbline.dev/plumbline/internal/model"
)

// An ordinalWas is the state of one address in a journal: enough to undo its change.
type ordinalWas struct {
	IP        netip.Addr      `json:"ip"`
	For       string          `json:"for"`
	Attribute json.RawMessage `json:"attribute,omitempty"` // empty means free
	Sequence  uint64          `json:"sequence,omitempty,string"`
}

// editOrdinals releases, records and transfers addresses of one block. If one address of a
// finding is not as the plan saw it, no address of that finding is changed: the addresses of
// one handle are released together or not at all.
func (s *Step) editOrdinals(sc Scene) (Edited, error) {
	if !sc.Live.There() {
		return Edited{}, moved("the block is gone")
	}
	b, err := readBlock(sc.Live)
	if err != nil {
		return Edited{}, err
	}
	if b.Deleted.V {
		return Edited{}, moved("the block is being deleted")
	}
	e := Edited{Dropped: map[string]string{}}
	open, reached := map[string]bool{}, map[string]bool{} // findings with an address to change, and with an address that already is right
	for _, o := range s.Ordinals {
		if !sc.Keep(o.For) {
			continue
		}
		switch todo, why := b.compare(o); {
		case why != "":
			e.Dropped[o.For] = why
		case todo:
			open[o.For] = true
		default:
			reached[o.For] = true
		}
	}
	var was, now []ordinalWas
	for _, o := range s.Ordinals {
		if !open[o.For] || e.Dropped[o.For] != "" {
			continue
		}
		if todo, _ := b.compare(o); !todo {
			continue
		}
		n := b.ordinal(o.IP)
		was = append(was, b.was(o, n))
		if o.To == nil {
			b.release(n)
		} else {
			b.give(n, o.To.attribute(b.holder(n)))
		}
		now = append(now, b.was(o, n))
		e.For = appendNew(e.For, o.For)
	}
	if len(e.For) == 0 {
		for f := range reached {
			if e.Dropped[f] == "" {
				return e, ErrAlready
			}
		}
		if len(e.Dropped) == 0 {
			return e, moved("none of its findings is left")
		}
		return e, moved("%s", anyOf(e.Dropped))
	}
	e.Delete = b.empty() && b.ownerless()
	return b.edited(sc, e, was, now)
}

// edited calls finish and puts the encoded block into the edit.
func (b *block) edited(sc Scene, e Edited, was, now any) (Edited, error) {
	if err := b.finish(); err != nil {
		return e, fmt.Errorf("%s: %w", sc.Live.Ref, err)
	}
	body, err := b.body()
	if err != nil {
		return e, fmt.Errorf("write %s: %w", sc.Live.Ref, err)
	}
	e.Object = sc.Live
	e.Object.Body = body
	if e.Was, err = json.Marshal(was); err != nil {
		return e, err
	}
	e.Now, err = json.Marshal(now)
	return e, err
}

// compare compares an address with what the plan saw. Why is not empty if it differs; else
// todo reports whether it must still be changed.
func (b *block) compare(o Ordinal) (todo bool, why string) {
	n := b.ordinal(o.IP)
	if n < 0 {
		return false, fmt.Sprintf("%s is not in the block any more", o.IP)
	}
	held := b.holder(n)
	if held == nil && !b.free(n) {
		return false, fmt.Sprintf("%s is neither allocated nor free: the block is inconsistent (PL1004)", o.IP)
	}
	if held != nil && slices.Contains(b.Unallocated.V, int32(n)) {
		return false, fmt.Sprintf("%s is both allocated and free: the block is inconsistent (PL1004)", o.IP)
	}
	if o.reached(held) {
		return false, ""
	}
	switch {
	case o.From == nil && held != nil:
		return false, fmt.Sprintf("%s is now allocated to %s", o.IP, held.Handle.V)
	case o.From == nil:
		return true, ""
	case held == nil:
		return false, fmt.Sprintf("%s is free now", o.IP)
	case held.Row() != o.From.Attribute && !o.From.hold():
		return false, fmt.Sprintf("%s is now allocated to %s, or to another owner of that handle", o.IP, held.Handle.V)
	case o.From.hold() && held.Handle.V != o.From.Handle:
		return false, fmt.Sprintf("%s is now allocated to %s", o.IP, held.Handle.V)
	case o.From.Sequence != 0 && b.sequenceOf(n) != o.From.Sequence:
		return false, fmt.Sprintf("%s was allocated again since the plan was made", o.IP)
	default:
		return true, ""
	}
}

// hold reports that the holder is our temporary one, from an earlier step: only its handle is compared.
func (h *Held) hold() bool { return h.Attribute == model.Attribute{Handle: h.Handle} }

// reached reports that the address already has its wanted owner, timestamps aside.
func (o *Ordinal) reached(held *object.Attribute) bool {
	if o.To == nil || held == nil {
		return o.To == nil && held == nil
	}
	if held.Handle.V != o.To.Handle {
		return false
	}
	for k, v := range o.To.Secondary {
		if k != timestamp && held.Secondary.V[k] != v {
			return false
		}
	}
	return true
}

// timestamp is the attribute with the time of the allocation. It is not compared, and kept on a transfer.
const timestamp = "timestamp"

// tunnel reports that the owner is a tunnel of a node.
func (o *Owner) tunnel() bool { return o != nil && o.Secondary["type"] != "" }

// attribute gives the stored attribute for an owner, with the timestamp of the one before.
func (o *Owner) attribute(before *object.Attribute) object.Attribute {
	secondary := maps.Clone(o.Secondary)
	if secondary == nil {
		secondary = map[string]string{}
	}
	if before != nil && before.Secondary.V[timestamp] != "" {
		secondary[timestamp] = before.Secondary.V[timestamp]
	}
	return object.Attribute{Handle: lossless.Some(o.Handle), Secondary: lossless.Some(secondary)}
}

func (b *block) was(o Ordinal, n int) ordinalWas {
	w := ordinalWas{IP: o.IP, For: o.For, Sequence: b.sequenceOf(n)}
	if at := b.holder(n); at != nil {
		w.Attribute, _ = json.Marshal(at) // strings and what was JSON before
	}
	return w
}

func appendNew(to []string, s string) []string {
	for _, t := range to {
		if t == s {
			return to
		}
	}
	return append(to, s)
}

// anyOf gives one of the reasons, the same every time.
func anyOf(why map[string]string) string {
	first := ""
	for k := range why {
		if first == "" || k < first {
			first = k
		}
	}
	return why[first]
}
