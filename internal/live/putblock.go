package live

import (
	"fmt"
	"iter"
	"net/netip"

	"plumbline.dev/plumbline/internal/model"
)

func (s *Store) putBlock(r model.Ref, row *model.Block) error {
	var c netip.Prefix
	if row != nil {
		c = row.CIDR
	} else {
		var err error
		if c, err = netip.ParsePrefix(r.Name); err != nil {
			return fmt.Errorf("a change of %s: %w", r, err)
		}
	}
	at := s.blocks[c]
	var old *model.Block
	if at != nil {
		old = at.Block
	}
	if old != nil && row != nil && old.Name != row.Name {
		return fmt.Errorf("blocks %s and %s: %w", old.Name, row.Name, ErrDoubled)
	}
	s.anew = s.anew || !c.IsValid() // nothing finds it
	s.touch(model.KindBlock, c.String())
	if old != nil {
		s.use(old, -1, s.poolUse, s.nodeUse)
		s.ledgered -= count(ledgered(old))
		s.wakeSlots(old, row)
	}
	switch {
	case row == nil && old == nil:
		return nil
	case row == nil:
		s.reindex(at, old.Attributes, nil)
		s.affine(at, old.Node(), "")
		s.place(at, -1)
		delete(s.blocks, c)
	case old == nil:
		at = &blockRow{row}
		s.blocks[c] = at
		s.place(at, 1)
		s.affine(at, "", row.Node())
		s.reindex(at, nil, row.Attributes)
	default:
		at.Block = row
		s.affine(at, old.Node(), row.Node())
		s.reindex(at, old.Attributes, row.Attributes)
	}
	if row != nil {
		s.use(row, 1, s.poolUse, s.nodeUse)
		s.ledgered += count(ledgered(row))
		s.wakeSlots(row, old)
	}
	s.wakeBlock(c)
	for a := range s.affinityAt.of(c.Masked()) {
		s.wakeAffinity(a)
	}
	if old == nil || row == nil {
		s.wakeRange(c)
	}
	return nil
}

func (s *Store) place(at *blockRow, n int) {
	c := at.CIDR
	if !c.IsValid() {
		return
	}
	s.lengths[family(c.Addr())][c.Bits()] += n
	if n > 0 {
		s.blocksAt.add(c.Masked(), at)
	} else {
		s.blocksAt.remove(c.Masked(), at)
	}
}

// affine renews what finds a block by the node that it belongs to.
func (s *Store) affine(at *blockRow, old, now string) {
	if old == now {
		return
	}
	if old != "" {
		s.blocksFor.remove(owner{model.KindAffinity, name{"", old}}, at)
	}
	if now != "" {
		s.blocksFor.add(owner{model.KindAffinity, name{"", now}}, at)
	}
}

func family(a netip.Addr) int {
	if a.Is4() {
		return 0
	}
	return 1
}

// reindex renews what finds a block by its attributes. Nearly always one is added or
// taken away, and what is before and behind it is the same.
func (s *Store) reindex(at *blockRow, old, now []model.Attribute) {
	whole := now
	for len(old) > 0 && len(now) > 0 && old[0] == now[0] {
		old, now = old[1:], now[1:]
	}
	for len(old) > 0 && len(now) > 0 && old[len(old)-1] == now[len(now)-1] {
		old, now = old[:len(old)-1], now[:len(now)-1]
	}
	for i := range old {
		if k := model.HandleKey(old[i].Handle); k != "" && !names(whole, func(a *model.Attribute) bool { return model.HandleKey(a.Handle) == k }) {
			s.blocksHeld.remove(k, at)
		}
		for o := range owners(&old[i]) {
			if !names(whole, func(a *model.Attribute) bool { return ownedBy(a, o) }) {
				s.blocksFor.remove(o, at)
			}
		}
	}
	for i := range now {
		if k := model.HandleKey(now[i].Handle); k != "" {
			s.blocksHeld.add(k, at)
		}
		for o := range owners(&now[i]) {
			s.blocksFor.add(o, at)
		}
	}
}

func names(as []model.Attribute, is func(*model.Attribute) bool) bool {
	for i := range as {
		if is(&as[i]) {
			return true
		}
	}
	return false
}

// owners gives all whom an attribute names.
func owners(at *model.Attribute) iter.Seq[owner] {
	return func(yield func(owner) bool) {
		if ns, n := at.PodName(); n != "" && !yield(owner{model.KindPod, name{ns, n}}) {
			return
		}
		if at.Service != "" && !yield(owner{model.KindService, name{at.Namespace, at.Service}}) {
			return
		}
		if m := at.Machine(); m != "" && !yield(owner{model.KindVM, name{at.Namespace, m}}) {
			return
		}
		if at.Node != "" {
			yield(owner{model.KindNode, name{"", at.Node}})
		}
	}
}

func ownedBy(at *model.Attribute, o owner) bool {
	for other := range owners(at) {
		if other == o {
			return true
		}
	}
	return false
}

// ledgered tells that the block shows that Calico hands out addresses.
func ledgered(b *model.Block) bool {
	return names(b.Attributes, func(a *model.Attribute) bool { return a.Pod != "" || a.Tunnel() })
}
