package executetest

import (
	"maps"
	"net/netip"
	"slices"
	"strconv"

	"plumbline.dev/plumbline/internal/calico/object"
	"plumbline.dev/plumbline/internal/lossless"
	"plumbline.dev/plumbline/internal/model"
)

// What Calico's library does to blocks and handles. Values are never changed in place.

const (
	perBlock  = 8                         // addresses: small, so that blocks fill and are claimed
	firstWord = 1_800_000_000_000_000_000 // sequence numbers begin at a clock's nanoseconds
)

func newBlock(cidr netip.Prefix, affinity string, sequence uint64) *object.Block {
	b := &object.Block{
		CIDR: lossless.Some(cidr.String()), Allocations: lossless.Some(make([]*int32, perBlock)),
		Attributes: lossless.Some([]object.Attribute{}), Sequence: lossless.Some(sequence),
		Sequences: lossless.Some(map[string]uint64{}), Deleted: lossless.Some(false), StrictAffinity: lossless.Some(false),
	}
	if affinity != "" {
		b.Affinity = lossless.Some(affinity)
	}
	for i := range int32(perBlock) {
		b.Unallocated.V = append(b.Unallocated.V, i)
	}
	b.Unallocated.Set = true
	return b
}

func cloneBlock(b *object.Block) *object.Block {
	c := *b
	c.Allocations.V = slices.Clone(b.Allocations.V)
	c.Unallocated.V = slices.Clone(b.Unallocated.V)
	c.Attributes.V = slices.Clone(b.Attributes.V)
	c.Sequences.V = maps.Clone(b.Sequences.V)
	return &c
}

// holder is who holds an ordinal; nil if it is free or nobody can tell.
func holder(b *object.Block, ord int32) *object.Attribute {
	if ord < 0 || int(ord) >= len(b.Allocations.V) || b.Allocations.V[ord] == nil {
		return nil
	}
	if i := *b.Allocations.V[ord]; i >= 0 && int(i) < len(b.Attributes.V) {
		return &b.Attributes.V[i]
	}
	return nil
}

// held tells that an ordinal is not free, whoever has it.
func held(b *object.Block, ord int32) bool {
	return ord >= 0 && int(ord) < len(b.Allocations.V) && b.Allocations.V[ord] != nil
}

func countOf(b *object.Block, handle string) (n int) {
	for o := range b.Allocations.V {
		if at := holder(b, int32(o)); at != nil && at.Handle.V == handle {
			n++
		}
	}
	return n
}

// assign gives out an ordinal, the next of the list if none is asked for.
func assign(b *object.Block, ord int32, handle string, secondary map[string]string) (*object.Block, int32) {
	if ord < 0 {
		if len(b.Unallocated.V) == 0 {
			return nil, -1
		}
		ord = b.Unallocated.V[0]
	}
	c := cloneBlock(b)
	c.Unallocated.V = slices.DeleteFunc(c.Unallocated.V, func(o int32) bool { return o == ord })
	at := int32(slices.IndexFunc(c.Attributes.V, func(a object.Attribute) bool {
		return a.Handle.V == handle && maps.Equal(a.Secondary.V, secondary)
	}))
	if at < 0 {
		at = int32(len(c.Attributes.V))
		c.Attributes.V = append(c.Attributes.V, object.Attribute{Handle: lossless.Some(handle), Secondary: lossless.Some(secondary)})
	}
	c.Allocations.V[ord] = &at
	if c.Sequences.V == nil {
		c.Sequences = lossless.Some(map[string]uint64{})
	}
	c.Sequences.V[strconv.Itoa(int(ord))] = c.Sequence.V
	c.Sequence.V++
	return c, ord
}

// free takes ordinals back. A DEL leaves their sequence numbers behind; only the
// collector clears them.
func free(b *object.Block, clear bool, ords ...int32) *object.Block {
	c := cloneBlock(b)
	for _, o := range ords {
		c.Allocations.V[o] = nil
		c.Unallocated.V = append(c.Unallocated.V, o)
		if clear {
			delete(c.Sequences.V, strconv.Itoa(int(o)))
		}
	}
	var kept []object.Attribute
	at := make([]int32, len(c.Attributes.V))
	for i := range c.Attributes.V {
		at[i] = -1
		if slices.ContainsFunc(c.Allocations.V, func(p *int32) bool { return p != nil && int(*p) == i }) {
			at[i] = int32(len(kept))
			kept = append(kept, c.Attributes.V[i])
		}
	}
	for o, p := range c.Allocations.V {
		if p != nil && *p >= 0 && int(*p) < len(at) {
			c.Allocations.V[o] = &at[*p]
		}
	}
	c.Attributes.V = kept
	if kept == nil {
		c.Attributes.V = []object.Attribute{}
	}
	c.Sequence.V++
	return c
}

// ordinals gives those that a handle holds.
func ordinals(b *object.Block, handle string) (out []int32) {
	for o := range b.Allocations.V {
		if at := holder(b, int32(o)); at != nil && at.Handle.V == handle {
			out = append(out, int32(o))
		}
	}
	return out
}

func empty(b *object.Block) bool {
	return !slices.ContainsFunc(b.Allocations.V, func(p *int32) bool { return p != nil })
}

// counted adds n to what a handle says of a block; nil means that it says nothing any more.
func counted(h *object.Handle, cidr string, n int) *object.Handle {
	c := *h
	c.Block.V = maps.Clone(h.Block.V)
	if c.Block.V[cidr] += n; c.Block.V[cidr] <= 0 {
		delete(c.Block.V, cidr)
	}
	if len(c.Block.V) == 0 {
		return nil
	}
	return &c
}

func newHandle(id, cidr string, n int, etcd bool) *object.Handle {
	h := &object.Handle{Block: lossless.Some(map[string]int{cidr: n}), Deleted: lossless.Some(false)}
	if !etcd {
		h.ID = lossless.Some(id)
	}
	return h
}

func blockRef(cidr netip.Prefix) model.Ref {
	return model.Ref{Kind: model.KindBlock, Name: cidr.String()}
}

func handleRef(id string) model.Ref { return model.Ref{Kind: model.KindHandle, Name: id} }

func affinityRef(node string, cidr netip.Prefix) model.Ref {
	return model.Ref{Kind: model.KindAffinity, Name: node + "/" + cidr.String()}
}

func podRef(ns, name string) model.Ref { return model.Ref{Kind: model.KindPod, Name: ns + "/" + name} }

func nodeRef(name string) model.Ref { return model.Ref{Kind: model.KindNode, Name: name} }
