package repair

import (
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/calico/object"
	"plumbline.dev/plumbline/internal/lossless"
	"plumbline.dev/plumbline/internal/model"
)

// UnknownHandle is the handle for addresses of a broken block whose attribute is invalid and
// whose owner was not found. They stay allocated; the user decides about them.
func UnknownHandle(cidr netip.Prefix) string {
	return "plumbline-unknown." + model.BlockName(cidr)
}

// mendBlock repairs the structure of a block. Invariant: every ordinal that is allocated
// before is allocated after.
func (s *Step) mendBlock(sc Scene) (Edited, error) {
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
	var did []string
	size := model.Size(b.cidr, maxOrdinals)
	if b.resize(size) {
		did = append(did, fmt.Sprintf("allocations has %d entries", size))
	}
	if len(b.Allocations.V) != size {
		return Edited{}, moved("the block has allocations beyond its range")
	}
	did = append(did, b.nameOwners(s.Mend.Owners)...)
	did = append(did, b.holdUsed(s.Mend.Owners)...)
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
	e, err := s.complete(sc, sc.Live, nil, nil)
	if err != nil {
		return e, err
	}
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

// nameOwners gives every allocated ordinal with an invalid attribute an owner: the one in found, else UnknownHandle.
func (b *block) nameOwners(found []Ordinal) []string {
	var did []string
	for n, i := range b.Allocations.V {
		if i == nil || b.holder(n) != nil {
			continue
		}
		ip := model.Offset(b.cidr.Masked(), int32(n))
		owner := &Owner{Handle: UnknownHandle(b.cidr), Secondary: map[string]string{"note": "allocated; its attribute was not readable"}}
		if node, ok := strings.CutPrefix(b.Affinity.V, "host:"); ok {
			owner.Secondary["node"] = node // remote nodes route borrowed addresses by this field
		}
		if k := slices.IndexFunc(found, func(o Ordinal) bool { return o.IP == ip && o.To != nil }); k >= 0 {
			owner = found[k].To
		}
		b.give(n, owner.attribute(nil))
		did = append(did, fmt.Sprintf("%s is allocated to %s", ip, owner.Handle))
	}
	return did
}

// holdUsed allocates addresses of found that are neither allocated nor in the free list.
func (b *block) holdUsed(found []Ordinal) []string {
	var did []string
	for _, o := range found {
		if n := b.ordinal(o.IP); n >= 0 && o.To != nil && b.Allocations.V[n] == nil && !slices.Contains(b.Unallocated.V, int32(n)) {
			b.give(n, o.To.attribute(nil))
			did = append(did, fmt.Sprintf("%s is allocated to %s", o.IP, o.To.Handle))
		}
	}
	return did
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

// newBlock creates a block for a node that has an affinity for it, as Calico does. Born is allocated from the start.
func (s *Step) newBlock(sc Scene) (Edited, error) {
	cidr, err := netip.ParsePrefix(s.On.Name)
	if err != nil || model.Size(cidr, maxOrdinals+1) > maxOrdinals {
		return Edited{}, fmt.Errorf("step %d: %q is not the CIDR of a block", s.ID, s.On.Name)
	}
	owner := "host:" + s.NewBlock.Node
	if sc.Live.There() {
		b, err := readBlock(sc.Live)
		if err != nil {
			return Edited{}, err
		}
		if b.Affinity.V == owner && !b.Deleted.V {
			return Edited{}, ErrAlready
		}
		return Edited{}, moved("the block exists with affinity %s", b.Affinity.V)
	}
	claim := sc.Also[model.Ref{Kind: model.KindAffinity, Name: s.NewBlock.Node + "/" + s.On.Name}]
	if !claim.There() {
		return Edited{}, moved("the node has no affinity for the block any more")
	}
	size := model.Size(cidr, maxOrdinals)
	b := block{cidr: cidr, Block: object.Block{
		CIDR: lossless.Some(cidr.String()), Affinity: lossless.Some(owner), Allocations: lossless.Some(make([]*int32, size)),
		Attributes: lossless.Some([]object.Attribute{}), Sequence: lossless.Some(uint64(sc.Now) * 1e9),
		Sequences: lossless.Some(map[string]uint64{}), Deleted: lossless.Some(false),
	}}
	if !sc.Etcd {
		b.StrictAffinity = lossless.Some(s.NewBlock.Strict)
	}
	b.listFree()
	for _, o := range s.NewBlock.Born {
		if n := b.ordinal(o.IP); n >= 0 && o.To != nil && (o.To.tunnel() || sc.Keep(o.For)) && b.free(n) {
			b.give(n, o.To.attribute(nil))
		}
	}
	if err := b.finish(); err != nil {
		return Edited{}, err
	}
	body, err := b.body()
	if err != nil {
		return Edited{}, err
	}
	o := sc.Live
	o.Body = body
	return s.complete(sc, o, nil, "new, affinity "+s.NewBlock.Node)
}
