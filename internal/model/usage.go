package model

import "net/netip"

// A Usage counts the addresses of a pool, or of a node's blocks.
type Usage struct {
	Blocks int // number of blocks
	Size   int // number of addresses in them
	Held   int // number of allocated addresses in them
}

// A nodeFamily is a node and a family of addresses.
type nodeFamily struct {
	node string
	six  bool
}

// countUse sums up blocks by pool (the smallest that contains the block) and by node.
func (v *View) countUse() {
	v.poolUse = make([]Usage, len(v.s.Pools))
	v.nodeUse = make(map[nodeFamily]Usage, len(v.s.Nodes))
	add := func(u Usage, b *Block) Usage {
		return Usage{u.Blocks + 1, u.Size + Size(b.CIDR, maxBlock), u.Held + len(b.Held)}
	}
	for i := range v.s.Blocks {
		b := &v.s.Blocks[i]
		for row := range v.pools.around(b.CIDR) {
			v.poolUse[row] = add(v.poolUse[row], b)
			break
		}
		if n := b.Node(); n != "" {
			key := nodeFamily{n, b.CIDR.Addr().Is6()}
			v.nodeUse[key] = add(v.nodeUse[key], b)
		}
	}
}

// Plus adds two usages.
func (u Usage) Plus(o Usage) Usage {
	return Usage{u.Blocks + o.Blocks, u.Size + o.Size, u.Held + o.Held}
}

// Kept counts the addresses of a range that IPReservations keep. held are those among them that are allocated all the same; Calico
// assigns none of the others.
func (v *View) Kept(cidr netip.Prefix) (kept, held int) {
	v.touched[Blocks] = true
	in := v.reserved(cidr)
	for _, c := range in {
		kept += Size(c, maxKept)
	}
	for i := range v.s.Blocks {
		if len(in) > 0 && cidr.Overlaps(v.s.Blocks[i].CIDR) {
			held += heldIn(&v.s.Blocks[i], in)
		}
	}
	return min(kept, maxKept), held
}

// maxKept is more addresses than anybody counts.
const maxKept = 1 << 30

// KeptIn counts the addresses of a block that IPReservations keep and that are not allocated.
func (v *View) KeptIn(b *Block) (n int) {
	in := v.reserved(b.CIDR)
	for _, c := range in {
		n += Size(c, maxBlock)
	}
	return n - heldIn(b, in)
}

// reserved returns the parts of a range that IPReservations keep, without overlaps.
func (v *View) reserved(of netip.Prefix) (in []netip.Prefix) {
	v.touched[Reservations] = true
	for i := range v.s.Reservations {
		for _, c := range v.s.Reservations[i].CIDRs {
			if c = c.Masked(); c.Overlaps(of) {
				in = append(in, within(c, of))
			}
		}
	}
	return disjoint(in)
}

// heldIn counts the allocated addresses of a block that are in one of the ranges.
func heldIn(b *Block, ranges []netip.Prefix) (n int) {
	for _, s := range b.Held {
		ip := Offset(b.CIDR, s[0])
		for _, c := range ranges {
			if c.Contains(ip) {
				n++
				break
			}
		}
	}
	return n
}

// within is the part of one range that is in another; one of them contains the other.
func within(a, b netip.Prefix) netip.Prefix {
	if a.Bits() > b.Bits() {
		return a
	}
	return b
}

// disjoint leaves out ranges that are in others.
func disjoint(all []netip.Prefix) (out []netip.Prefix) {
	for i, a := range all {
		inside := false
		for j, b := range all {
			inside = inside || i != j && b.Contains(a.Addr()) && (b.Bits() < a.Bits() || b.Bits() == a.Bits() && j < i)
		}
		if !inside {
			out = append(out, a)
		}
	}
	return out
}
