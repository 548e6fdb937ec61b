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

// UnknownHandle holds what a broken block held for nobody that can be read: it stays held,
// and a person decides.
func UnknownHandle(cidr netip.Prefix) string {
	return "plumbline-unknown." + model.BlockName(cidr)
}

// mendBlock makes a block's structure right. It is a merge: nothing that is held becomes
// free by it.
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
		did = append(did, fmt.Sprintf("list of ordinals has %d places", size))
	}
	if len(b.Allocations.V) != size {
		return Edited{}, moved("it holds ordinals beyond its range")
	}
	did = append(did, b.nameOwners(s.Mend.Owners)...)
	did = append(did, b.holdUsed(s.Mend.Owners)...)
	if b.oneEach() {
		did = append(did, "every owner is written once, and used")
	}
	if b.listFree() {
		did = append(did, "list of free ordinals is what is not held")
	}
	for k, n := range b.Sequences.V {
		if n > b.Sequence.V {
			b.Sequences.V[k] = b.Sequence.V
			did = append(did, "number of ordinal "+k+" is not above the block's")
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
	return b.edited(sc, e, nil, did) // it is not taken back, so what it was is not kept
}

// resize adds places that are missing, and takes away those beyond the range if nothing is
// held there.
func (b *block) resize(size int) bool {
	have := len(b.Allocations.V)
	if have == size {
		return false
	}
	if have > size && slices.ContainsFunc(b.Allocations.V[size:], func(i *int32) bool { return i != nil }) {
		return false
	}
	places := make([]*int32, size)
	copy(places, b.Allocations.V)
	b.Allocations = lossless.Some(places)
	return true
}

// nameOwners gives every held ordinal an owner that can be read.
func (b *block) nameOwners(found []Ordinal) []string {
	var did []string
	for n, i := range b.Allocations.V {
		if i == nil || b.holder(n) != nil {
			continue
		}
		ip := model.Offset(b.cidr.Masked(), int32(n))
		owner := &Owner{Handle: UnknownHandle(b.cidr), Secondary: map[string]string{"note": "held, and its owner could not be read"}}
		if node, ok := strings.CutPrefix(b.Affinity.V, "host:"); ok {
			owner.Secondary["node"] = node // a borrowed address is routed by it
		}
		if k := slices.IndexFunc(found, func(o Ordinal) bool { return o.IP == ip && o.To != nil }); k >= 0 {
			owner = found[k].To
		}
		b.give(n, owner.attribute(nil))
		did = append(did, fmt.Sprintf("%s is held by %s", ip, owner.Handle))
	}
	return did
}

// holdUsed has the block hold what it neither held nor offered and somebody uses.
func (b *block) holdUsed(found []Ordinal) []string {
	var did []string
	for _, o := range found {
		if n := b.ordinal(o.IP); n >= 0 && o.To != nil && b.Allocations.V[n] == nil && !slices.Contains(b.Unallocated.V, int32(n)) {
			b.give(n, o.To.attribute(nil))
			did = append(did, fmt.Sprintf("%s is held by %s", o.IP, o.To.Handle))
		}
	}
	return did
}

// oneEach makes ordinals of one owner point at one attribute; those that nobody points at
// any more go when the block is written. It tells whether there were any.
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

// listFree makes the list of free ordinals the complement of what is held: the old order is
// kept, what was missing comes at the end.
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

// newBlock makes a block for a node that has claimed it, as Calico does it.
func (s *Step) newBlock(sc Scene) (Edited, error) {
	cidr, err := netip.ParsePrefix(s.On.Name)
	if err != nil || model.Size(cidr, maxOrdinals+1) > maxOrdinals {
		return Edited{}, fmt.Errorf("step %d: no block can be %q", s.ID, s.On.Name)
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
		return Edited{}, moved("the block is there, and belongs to %s", b.Affinity.V)
	}
	claim := sc.Also[model.Ref{Kind: model.KindAffinity, Name: s.NewBlock.Node + "/" + s.On.Name}]
	if !claim.There() {
		return Edited{}, moved("the node has no claim on it any more")
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
	return s.complete(sc, o, nil, "new, of "+s.NewBlock.Node)
}
