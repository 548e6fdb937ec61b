package change

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/calico/object"
	"plumbline.dev/plumbline/internal/lossless"
	"plumbline.dev/plumbline/internal/model"
)

func readHandle(o model.Object) (object.Handle, error) {
	if !o.There() {
		return object.Handle{}, nil
	}
	return object.Decode(o.Ref.String(), o.Body, func(v *object.Handle) *lossless.Extra { return &v.Extra })
}

// Reads names all blocks in which the handle may have addresses.
func (c *Count) Reads(_ model.Ref, live model.Object) ([]model.Ref, error) {
	h, err := readHandle(live)
	if err != nil {
		return nil, err
	}
	seen := map[netip.Prefix]bool{}
	for text := range h.Block.V {
		cidr, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", live.Ref, err)
		}
		seen[cidr] = true
	}
	for _, cidr := range c.Blocks {
		seen[cidr] = true
	}
	for _, r := range c.Raise {
		seen[r.Block] = true
	}
	cidrs := slices.SortedFunc(maps.Keys(seen), func(a, b netip.Prefix) int {
		return cmp.Or(a.Addr().Compare(b.Addr()), cmp.Compare(a.Bits(), b.Bits()))
	})
	refs := make([]model.Ref, 0, len(cidrs))
	for _, cidr := range cidrs {
		refs = append(refs, model.Ref{Kind: model.KindBlock, Name: cidr.String()})
	}
	return refs, nil
}

// Edit sets the counts of a handle to what the blocks hold plus Raise, which later steps will
// allocate. Invariant: the written count is never lower than what the blocks hold or an ADD is
// about to allocate. It holds because Calico counts in the handle before it allocates in the
// block, the blocks were read after the handle, and the handle is written only at the revision
// that was read: an ADD that counts in between makes the write stale.
func (c *Count) Edit(sc Scene) (Edited, error) {
	h, err := readHandle(sc.Live)
	if err != nil {
		return Edited{}, err
	}
	if h.ID.V != "" && h.ID.V != c.Handle {
		return Edited{}, moved("the object is of handle %s", h.ID.V)
	}
	want, err := c.recount(sc)
	if err != nil {
		return Edited{}, err
	}
	// Counts are not lowered, except in a recount after our own release (Always) or where
	// Unchanged states the revision that was verified.
	if len(c.Raise) > 0 || !sc.Always && c.Unchanged == "" {
		for cidr, n := range h.Block.V {
			want[cidr] = max(want[cidr], n)
		}
	}
	raises, lowers := compareCounts(h.Block.V, want)
	lowers = lowers || h.Deleted.V
	maps.DeleteFunc(want, func(_ string, n int) bool { return n == 0 })
	switch {
	case !raises && !lowers && len(want) == len(h.Block.V) && sc.Live.There() == (len(want) > 0),
		!sc.Live.There() && len(want) == 0:
		return Edited{}, ErrAlready
	case (lowers || len(want) == 0) && c.Unchanged != "" && c.Unchanged != sc.Live.Revision:
		return Edited{}, moved("the handle was written since the plan was made")
	}
	return c.write(sc, h, want)
}

// compareCounts reports whether any block gets a higher or a lower count.
func compareCounts(have, want map[string]int) (raises, lowers bool) {
	for cidr, n := range have {
		lowers = lowers || want[cidr] < n
	}
	for cidr, n := range want {
		raises = raises || n > have[cidr]
	}
	return raises, lowers
}

// write makes the edit that gives the handle these counts; without any it is deleted.
func (c *Count) write(sc Scene, h object.Handle, want map[string]int) (Edited, error) {
	was := maps.Clone(h.Block.V)
	if !sc.Live.There() && !sc.Etcd {
		h.ID = lossless.Some(c.Handle)
	}
	h.Block, h.Deleted = lossless.Some(want), lossless.Some(false)
	body, err := lossless.Encode(h, h.Extra)
	if err != nil {
		return Edited{}, fmt.Errorf("write %s: %w", sc.Live.Ref, err)
	}
	o := sc.Live
	o.Body = body
	e, err := sc.edited(o, was, want)
	e.Delete = len(want) == 0
	return e, err
}

// recount counts, per block, the addresses that the block holds for the handle, plus those
// of Raise that it does not hold yet.
func (c *Count) recount(sc Scene) (map[string]int, error) {
	want := map[string]int{}
	for ref, o := range sc.Also {
		if ref.Kind != model.KindBlock || !o.There() {
			continue
		}
		b, err := readBlock(o)
		if err != nil {
			return nil, err
		}
		want[ref.Name] = b.holds(c.Handle)
		for _, r := range c.Raise {
			if r.Block != b.cidr {
				continue
			}
			for _, ip := range r.IPs {
				if n := b.ordinal(ip); n >= 0 && !b.heldBy(n, c.Handle) {
					want[ref.Name]++
				}
			}
		}
	}
	for _, r := range c.Raise {
		if _, ok := want[r.Block.String()]; !ok {
			want[r.Block.String()] = len(r.IPs) // a later step creates the block
		}
	}
	return want, nil
}

func (b *block) heldBy(n int, handle string) bool {
	at := b.holder(n)
	return at != nil && model.HandleKey(at.Handle.V) == model.HandleKey(handle)
}
