package change

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"plumbline.dev/plumbline/internal/calico/object"
	"plumbline.dev/plumbline/internal/lossless"
	"plumbline.dev/plumbline/internal/model"
)

// A Held is the owner that an ordinal must have before the write.
type Held struct {
	model.Attribute
	Sequence uint64 `json:"sequence,omitempty,string"` // of the allocation; 0 means any
}

// An Owner is the attribute to write. If the ordinal was allocated before, its timestamp is
// kept.
type Owner struct {
	Handle    string            `json:"handle"`
	Secondary map[string]string `json:"secondary,omitempty"`
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
	if why := o.differs(held); why != "" {
		return false, why
	}
	if o.From != nil && o.From.Sequence != 0 && b.sequenceOf(n) != o.From.Sequence {
		return false, fmt.Sprintf("%s was allocated again since the plan was made", o.IP)
	}
	return true, ""
}

// differs gives why the owner now is not From; empty if it is.
func (o *Ordinal) differs(held *object.Attribute) string {
	switch {
	case o.From == nil && held != nil:
		return fmt.Sprintf("%s is now allocated to %s", o.IP, held.Handle.V)
	case o.From == nil:
		return ""
	case held == nil:
		return fmt.Sprintf("%s is free now", o.IP)
	case held.Row() != o.From.Attribute && !o.From.hold():
		return fmt.Sprintf("%s is now allocated to %s, or to another owner of that handle", o.IP, held.Handle.V)
	case o.From.hold() && held.Handle.V != o.From.Handle:
		return fmt.Sprintf("%s is now allocated to %s", o.IP, held.Handle.V)
	default:
		return ""
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
		if k != Timestamp && held.Secondary.V[k] != v {
			return false
		}
	}
	return true
}

// Timestamp is the attribute with the time of the allocation. It is not compared, and kept on a transfer.
const Timestamp = "timestamp"

// attribute gives the stored attribute for an owner, with the timestamp of the one before.
func (o *Owner) attribute(before *object.Attribute) object.Attribute {
	secondary := maps.Clone(o.Secondary)
	if secondary == nil {
		secondary = map[string]string{}
	}
	if before != nil && before.Secondary.V[Timestamp] != "" {
		secondary[Timestamp] = before.Secondary.V[Timestamp]
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
