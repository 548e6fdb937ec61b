package live

import (
	"iter"
	"net/netip"

	"plumbline.dev/plumbline/internal/model"
)

// maxBlock bounds what a block may claim to hold, as in model.
const maxBlock = 1 << 12

// allocations gives the addresses that a block holds, and for whom; nil if that points
// nowhere.
func allocations(b *model.Block) iter.Seq2[netip.Addr, *model.Attribute] {
	return func(yield func(netip.Addr, *model.Attribute) bool) {
		size := model.Size(b.CIDR, maxBlock)
		for _, slot := range b.Held {
			if slot[0] < 0 || int(slot[0]) >= size {
				continue
			}
			if !yield(model.Offset(b.CIDR, slot[0]), attribute(b, slot[1])) {
				return
			}
		}
	}
}

func attribute(b *model.Block, i int32) *model.Attribute {
	if i < 0 || int(i) >= len(b.Attributes) {
		return nil
	}
	return &b.Attributes[i]
}

// attributesOf gives the attributes of one address of a block.
func attributesOf(b *blockRow, a netip.Addr) iter.Seq[*model.Attribute] {
	return func(yield func(*model.Attribute) bool) {
		o, ok := ordinal(b.CIDR, a)
		if !ok {
			return
		}
		for _, slot := range b.Held {
			if at := attribute(b.Block, slot[1]); slot[0] == o && at != nil && !yield(at) {
				return
			}
		}
	}
}

// ordinal is the place of an address in a range of at most maxBlock.
func ordinal(c netip.Prefix, a netip.Addr) (int32, bool) {
	if !c.Contains(a) {
		return 0, false
	}
	last, first := a.As16(), c.Masked().Addr().As16()
	n := 0
	for i := 12; i < 16; i++ {
		n = n<<8 | int(last[i]-first[i])&255
	}
	return int32(n), n < maxBlock
}

// blocksWith gives the blocks that an address lies in.
func (s *Store) blocksWith(a netip.Addr) iter.Seq[*blockRow] {
	return s.blocksAround(netip.PrefixFrom(a, a.BitLen()))
}

// blocksAround gives the blocks that contain all of a range.
func (s *Store) blocksAround(c netip.Prefix) iter.Seq[*blockRow] {
	return func(yield func(*blockRow) bool) {
		if !c.IsValid() {
			return
		}
		lengths := &s.lengths[family(c.Addr())]
		for n := c.Bits(); n >= 0; n-- {
			if lengths[n] == 0 {
				continue
			}
			q, err := c.Addr().Prefix(n)
			if err != nil {
				return
			}
			for b := range s.blocksAt.of(q) {
				if !yield(b) {
					return
				}
			}
		}
	}
}

// wakeSlots wakes what rests on the addresses that a block holds otherwise than another
// state of it does.
func (s *Store) wakeSlots(b, other *model.Block) {
	if s.woken == nil {
		return
	}
	same := sameSlots(b, other)
	for _, slot := range b.Held {
		if slot[0] < 0 || int(slot[0]) >= model.Size(b.CIDR, maxBlock) || same[slot[0]] {
			continue
		}
		a := model.Offset(b.CIDR, slot[0])
		s.wakeAllocation(a)
		s.wakeOffered(a)
		if at := attribute(b, slot[1]); at != nil && at.Handle != "" {
			k := model.HandleKey(at.Handle)
			s.wake(model.Handles, model.KindHandle, k)
			s.wakeHeld(k)
		}
	}
}

// wakeOffered wakes who is judged by whether the ledger has the address, and for whom.
func (s *Store) wakeOffered(a netip.Addr) {
	s.wakeAddress(a)
	s.wakeTunnelAt(a)
	for p := range s.podsAt.of(a) {
		s.wake(model.Pods, model.KindPod, p.Namespace+"/"+p.Name)
	}
	for e := range s.endpointsAt.of(a) {
		s.wake(model.Pods, model.KindPod, e.Namespace+"/"+e.Pod)
	}
}

// sameSlots tells which ordinals two states of a block hold for the same one.
func sameSlots(b, other *model.Block) map[int32]bool {
	if other == nil {
		return nil
	}
	was := make(map[int32]int32, len(other.Held))
	for _, slot := range other.Held {
		if _, twice := was[slot[0]]; twice {
			return nil
		}
		was[slot[0]] = slot[1]
	}
	same := make(map[int32]bool, len(b.Held))
	seen := make(map[int32]bool, len(b.Held))
	for _, slot := range b.Held {
		if seen[slot[0]] {
			return nil
		}
		seen[slot[0]] = true
		i, held := was[slot[0]]
		at, before := attribute(b, slot[1]), attribute(other, i)
		same[slot[0]] = held && at != nil && before != nil && *at == *before
	}
	return same
}

// wakeRange: a block is there that was not, or the other way round. What lies in it is
// judged by another, and an address that nobody holds has another to be free in.
func (s *Store) wakeRange(c netip.Prefix) {
	if s.woken == nil || !c.IsValid() {
		return
	}
	n := model.Size(c, maxBlock+1)
	if n > maxBlock {
		s.anew = true
		return
	}
	for i := range int32(n) {
		a := model.Offset(c, i)
		if s.podsAt.has(a) || s.tunnels.has(a) || s.servicesAt.has(a) || s.inside.has(a) || s.endpointsAt.has(a) {
			s.wakeOffered(a)
		}
	}
	lengths := &s.lengths[family(c.Addr())]
	for bits := c.Bits() + 1; bits <= c.Addr().BitLen(); bits++ {
		if lengths[bits] == 0 {
			continue
		}
		step := int32(1) << (c.Addr().BitLen() - bits)
		for i := int32(0); i < int32(n); i += step {
			for b := range s.blocksAt.of(netip.PrefixFrom(model.Offset(c, i), bits)) {
				s.wakeBlock(b.CIDR)
			}
		}
	}
}
