package change

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"reflect"
	"slices"
	"strconv"

	"plumbline.dev/plumbline/internal/calico/object"
	"plumbline.dev/plumbline/internal/lossless"
	"plumbline.dev/plumbline/internal/model"
)

// A block is a stored IPAM block and its CIDR. Invariant: cidr equals the block's cidr field and its name.
type block struct {
	object.Block
	cidr netip.Prefix
}

// MaxOrdinals bounds the size of a block that is read. The largest block of Calico is a /20.
const MaxOrdinals = 1 << 16

func readBlock(o model.Object) (*block, error) {
	v, err := object.Decode(o.Ref.String(), o.Body, func(v *object.Block) *lossless.Extra { return &v.Extra })
	if err != nil {
		return nil, err
	}
	cidr, err := netip.ParsePrefix(v.CIDR.V)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Ref, err)
	}
	if cidr.String() != o.Ref.Name {
		return nil, fmt.Errorf("%s: its cidr field is %s", o.Ref, cidr)
	}
	if model.Size(cidr, MaxOrdinals+1) > MaxOrdinals {
		return nil, fmt.Errorf("%s: larger than the largest block of Calico", o.Ref)
	}
	return &block{v, cidr}, nil
}

// body encodes the block, unknown fields included.
func (b *block) body() (json.RawMessage, error) { return lossless.Encode(b.Block, b.Extra) }

// ordinal is the index of an address in the block, or -1.
func (b *block) ordinal(ip netip.Addr) int {
	if !b.cidr.Contains(ip) {
		return -1
	}
	base, at := b.cidr.Masked().Addr().AsSlice(), ip.AsSlice()
	n := 0
	for i := range at {
		n = n<<8 | (int(at[i]) - int(base[i]))
	}
	if n >= len(b.Allocations.V) {
		return -1
	}
	return n
}

// free reports that an ordinal is unallocated and in the list of free ordinals.
func (b *block) free(n int) bool {
	return b.Allocations.V[n] == nil && slices.Contains(b.Unallocated.V, int32(n))
}

// holder gives the attribute of an allocated ordinal; nil if it is free or its index is invalid.
func (b *block) holder(n int) *object.Attribute {
	i := b.Allocations.V[n]
	if i == nil || *i < 0 || int(*i) >= len(b.Attributes.V) {
		return nil
	}
	return &b.Attributes.V[*i]
}

func (b *block) sequenceOf(n int) uint64 { return b.Sequences.V[strconv.Itoa(n)] }

// holds counts the ordinals that are allocated to a handle.
func (b *block) holds(handle string) int {
	count := 0
	for n := range b.Allocations.V {
		if at := b.holder(n); at != nil && at.Handle.V != "" && model.HandleKey(at.Handle.V) == model.HandleKey(handle) {
			count++
		}
	}
	return count
}

// release frees an ordinal. It goes to the end of the free list, as in Calico.
func (b *block) release(n int) {
	b.Allocations.V[n] = nil
	b.Unallocated.V = append(slices.DeleteFunc(b.Unallocated.V, func(o int32) bool { return int(o) == n }), int32(n))
	b.Unallocated.Set, b.Unallocated.Null = true, false
	delete(b.Sequences.V, strconv.Itoa(n))
}

// give allocates an ordinal to an owner. Ordinals share attributes, so no attribute is
// changed in place. As in Calico, the sequence number of the allocation is the block's
// sequence number before this write.
func (b *block) give(n int, at object.Attribute) {
	i := slices.IndexFunc(b.Attributes.V, func(o object.Attribute) bool { return reflect.DeepEqual(o, at) })
	if i < 0 {
		i = len(b.Attributes.V)
		b.Attributes = lossless.Some(append(slices.Clone(b.Attributes.V), at))
	}
	b.Allocations.V[n] = new(int32(i))
	b.Unallocated.V = slices.DeleteFunc(b.Unallocated.V, func(o int32) bool { return int(o) == n })
	if b.Sequences.V == nil {
		b.Sequences = lossless.Some(map[string]uint64{})
	}
	b.Sequences.V[strconv.Itoa(n)] = b.Sequence.V
}

var errNoNumbers = errors.New("the sequence number of the block is at its maximum")

// finish must be called once before every write of a block. It increments the sequence
// number, and removes attributes without an ordinal and sequence numbers of free ordinals
// (a DEL leaves them behind). If the block is not sound it only increments the sequence
// number: attributes are not renumbered while an index is invalid.
func (b *block) finish() error {
	if b.Sequence.V == math.MaxUint64 {
		return errNoNumbers
	}
	b.Sequence = lossless.Some(b.Sequence.V + 1)
	if !b.sound() {
		return nil
	}
	moved := map[int32]int32{}
	kept := []object.Attribute{}
	for n, i := range b.Allocations.V {
		if i == nil {
			delete(b.Sequences.V, strconv.Itoa(n))
			continue
		}
		to, ok := moved[*i]
		if !ok {
			to = int32(len(kept))
			moved[*i] = to
			kept = append(kept, b.Attributes.V[*i])
		}
		b.Allocations.V[n] = new(to)
	}
	b.Attributes = lossless.Some(kept)
	return nil
}

// sound reports that every allocated ordinal has a valid attribute. Only then may attributes be
// renumbered.
func (b *block) sound() bool {
	for n, i := range b.Allocations.V {
		if i != nil && b.holder(n) == nil {
			return false
		}
	}
	return true
}

// empty reports that no ordinal is allocated.
func (b *block) empty() bool {
	return !slices.ContainsFunc(b.Allocations.V, func(i *int32) bool { return i != nil })
}

// ownerless reports that no node has an affinity for the block: Calico deletes such a block when it is empty.
func (b *block) ownerless() bool { return b.Affinity.V == "" && b.HostAffinity.V == "" }

// liveBlock reads the block of the step; ErrMoved if it is gone or being deleted.
func (sc *Scene) liveBlock() (*block, error) {
	if !sc.Live.There() {
		return nil, moved("the block is gone")
	}
	b, err := readBlock(sc.Live)
	if err != nil {
		return nil, err
	}
	if b.Deleted.V {
		return nil, moved("the block is being deleted")
	}
	return b, nil
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
