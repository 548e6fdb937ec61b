package change

import (
	"fmt"
	"net/netip"
	"reflect"
	"slices"

	"plumbline.dev/plumbline/internal/calico/object"
	"plumbline.dev/plumbline/internal/lossless"
	"plumbline.dev/plumbline/internal/model"
)

// A Mend repairs the structure of a block. Allocated ordinals stay allocated. An ordinal that is
// allocated with an invalid attribute, or neither allocated nor free, gets its owner from Owners,
// else UnknownHandle: nobody knows who uses it, so it is never offered.
type Mend struct {
	Owners []Ordinal `json:"owners,omitempty"` // From is not used
}

// UnknownHandle is the handle for addresses of a broken block whose attribute is invalid and
// whose owner was not found. They stay allocated; the user decides about them.
func UnknownHandle(cidr netip.Prefix) string { return model.UnknownPrefix + model.BlockName(cidr) }

// Key is the name in the JSON of a step.
func (m *Mend) Key() string { return "mend" }

// Kind is that of blocks.
func (m *Mend) Kind() model.Kind { return model.KindBlock }

// Describe says what stays as it is.
func (m *Mend) Describe() string {
	return "repair its structure: allocated and unlisted addresses are allocated, free ones stay free"
}

// LeastRisk is Safe: nothing that is allocated is released.
func (m *Mend) LeastRisk() Risk { return Safe }

// Validate returns an error if an owner is not one of the findings'. Who it is is verified live.
func (m *Mend) Validate(u Use) error {
	for _, o := range m.Owners {
		if u.Proofs[o.For] == nil || o.To == nil || !o.To.tunnel() && model.ContainerOf(o.To.Handle) == "" {
			return fmt.Errorf("it records %s for an owner that cannot be verified", o.IP)
		}
	}
	return u.each(unproven)
}

// Merge adds the owners of other addresses.
func (m *Mend) Merge(with Change) (Change, bool) {
	more, ok := with.(*Mend)
	if !ok {
		return nil, false
	}
	for _, o := range more.Owners {
		if !slices.ContainsFunc(m.Owners, func(have Ordinal) bool { return have.IP == o.IP }) {
			m.Owners = append(m.Owners, o)
		}
	}
	return m, true
}

// Reads names the handles that get addresses.
func (m *Mend) Reads(model.Ref, model.Object) ([]model.Ref, error) { return receivers(m.Owners), nil }

const noMendUndo = "a repaired block structure is not reverted"

// NoUndo says that it is not undone.
func (m *Mend) NoUndo(string) (why string, undoable bool) { return noMendUndo, false }

// Undo refuses.
func (m *Mend) Undo(w Write, u Undoer) { u.Refuse(w.Finding, noMendUndo) }

// Edit repairs the structure of a block. Invariant: every ordinal that is allocated before is
// allocated after.
func (m *Mend) Edit(sc Scene) (Edited, error) {
	b, err := sc.liveBlock()
	if err != nil {
		return Edited{}, err
	}
	var did []string
	size := model.Size(b.cidr, MaxOrdinals)
	if b.resize(size) {
		did = append(did, fmt.Sprintf("allocations has %d entries", size))
	}
	if len(b.Allocations.V) != size {
		return Edited{}, moved("the block has allocations beyond its range")
	}
	short, err := b.uncounted(&sc, m.Owners)
	if err != nil {
		return Edited{}, err
	}
	owners := slices.DeleteFunc(slices.Clone(m.Owners), func(o Ordinal) bool { return short[o.To.Handle] })
	did = append(did, b.nameOwners(owners)...)
	did = append(did, b.holdUnlisted(owners)...)
	if b.oneEach() {
		did = append(did, "every attribute is unique and used")
	}
	if b.listFree() {
		did = append(did, "unallocated lists exactly the free ordinals")
	}
	for k, n := range b.Sequences.V {
		if n > b.Sequence.V {
			b.Sequences.V[k] = b.Sequence.V
			did = append(did, "sequence number of ordinal "+k+" is not above the block's")
		}
	}
	if len(did) == 0 {
		return Edited{}, ErrAlready
	}
	e, err := sc.edited(sc.Live, nil, nil)
	if err != nil {
		return e, err
	}
	e.Gives = gives(owners)
	slices.Sort(did)
	return b.edited(sc, e, nil, did) // there is no undo, so the old state is not journalled
}

// resize makes the list of allocations size entries long. It does not cut entries that are
// allocated. It reports whether it changed the list.
func (b *block) resize(size int) bool {
	have := len(b.Allocations.V)
	if have == size {
		return false
	}
	if have > size && slices.ContainsFunc(b.Allocations.V[size:], func(i *int32) bool { return i != nil }) {
		return false
	}
	entries := make([]*int32, size)
	copy(entries, b.Allocations.V)
	b.Allocations = lossless.Some(entries)
	return true
}

// nameOwners gives every allocated ordinal with an invalid attribute an owner: the one in found,
// else UnknownHandle. All are found before the first is named: a new attribute may get the index
// at which another ordinal points.
func (b *block) nameOwners(found []Ordinal) []string {
	var invalid []int
	for n, i := range b.Allocations.V {
		if i != nil && b.holder(n) == nil {
			invalid = append(invalid, n)
		}
	}
	var did []string
	for _, n := range invalid {
		ip := model.Offset(b.cidr.Masked(), int32(n))
		owner := b.ownerAmong(found, ip)
		b.give(n, owner.attribute(nil))
		did = append(did, fmt.Sprintf("%s is allocated to %s", ip, owner.Handle))
	}
	return did
}

// holdUnlisted allocates the ordinals that are neither allocated nor in the free list.
func (b *block) holdUnlisted(found []Ordinal) []string {
	listed := map[int32]bool{}
	for _, n := range b.Unallocated.V {
		listed[n] = true
	}
	var did []string
	for n, i := range b.Allocations.V {
		if i != nil || listed[int32(n)] {
			continue
		}
		ip := model.Offset(b.cidr.Masked(), int32(n))
		owner := b.ownerAmong(found, ip)
		b.give(n, owner.attribute(nil))
		did = append(did, fmt.Sprintf("%s is allocated to %s", ip, owner.Handle))
	}
	return did
}

// ownerAmong gives the owner that was found for an address, else the unknown one.
func (b *block) ownerAmong(found []Ordinal, ip netip.Addr) *Owner {
	if k := slices.IndexFunc(found, func(o Ordinal) bool { return o.IP == ip && o.To != nil }); k >= 0 {
		return found[k].To
	}
	return b.unknownOwner()
}

// unknownOwner keeps the node: remote nodes route borrowed addresses by this field.
func (b *block) unknownOwner() *Owner {
	owner := &Owner{Handle: UnknownHandle(b.cidr), Secondary: map[string]string{"note": "allocated; its owner is not known"}}
	if node := b.node(); node != "" {
		owner.Secondary["node"] = node
	}
	return owner
}

// gives lists the addresses that are recorded for pods.
func gives(owners []Ordinal) []Giving {
	var out []Giving
	for _, o := range owners {
		if !o.To.tunnel() {
			out = append(out, Giving{For: o.For, IP: o.IP, Namespace: o.To.Secondary["namespace"], Pod: o.To.Secondary["pod"], Container: model.ContainerOf(o.To.Handle)})
		}
	}
	return out
}

// oneEach makes ordinals with equal attributes use the first of them; finish then removes
// the unused ones. It reports whether there are any.
func (b *block) oneEach() bool {
	used := map[int32]bool{}
	for n, i := range b.Allocations.V {
		if i == nil || b.holder(n) == nil {
			continue
		}
		first := int32(slices.IndexFunc(b.Attributes.V, func(o object.Attribute) bool { return reflect.DeepEqual(o, *b.holder(n)) }))
		b.Allocations.V[n] = new(first)
		used[first] = true
	}
	return len(used) < len(b.Attributes.V)
}

// listFree makes the free list the complement of the allocations. It keeps the old order
// and appends missing ordinals. It reports whether it changed the list.
func (b *block) listFree() bool {
	listed := make([]bool, len(b.Allocations.V))
	free := []int32{}
	for _, n := range b.Unallocated.V {
		if n >= 0 && int(n) < len(listed) && !listed[n] && b.Allocations.V[n] == nil {
			listed[n] = true
			free = append(free, n)
		}
	}
	for n, i := range b.Allocations.V {
		if i == nil && !listed[n] {
			free = append(free, int32(n))
		}
	}
	if slices.Equal(free, b.Unallocated.V) && b.Unallocated.Set && !b.Unallocated.Null {
		return false
	}
	b.Unallocated = lossless.Some(free)
	return true
}
