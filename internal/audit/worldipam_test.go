package audit_test

import (
	"net/netip"
	"slices"

	"pgregory.net/rapid"

	"plumbline.dev/plumbline/internal/model"
)

var (
	pool4 = netip.MustParsePrefix("10.0.0.0/16")
	pool6 = netip.MustParsePrefix("fd00::/112")
)

// block adds one of sixteen addresses.
func (w *world) block(pool netip.Prefix, affinity string) *model.Block {
	cidr := netip.PrefixFrom(model.Offset(pool, int32(16*len(w.s.Blocks))), pool.Addr().BitLen()-4)
	b := model.Block{Name: model.BlockName(cidr), CIDR: cidr, Affinity: affinity, Length: 16, Sequence: sequence + 1000}
	if !w.etcd {
		b.Written = old // etcd has no times
	}
	for i := range int32(16) {
		b.Free = append(b.Free, i)
	}
	w.s.Blocks = append(w.s.Blocks, b)
	if n := b.Node(); n != "" {
		w.s.Affinities = append(w.s.Affinities, model.Affinity{Name: n + "-" + b.Name, Node: n, Type: "host", CIDR: cidr, State: "confirmed", Labelled: true})
	}
	return &w.s.Blocks[len(w.s.Blocks)-1]
}

// take gives the next address of a block, or of a new one of the same owner.
func (w *world) take(b *model.Block) netip.Addr {
	if w.next[b.Name] == 12 {
		b = w.block(map[bool]netip.Prefix{true: pool4, false: pool6}[b.CIDR.Addr().Is4()], b.Affinity)
	}
	w.next[b.Name]++
	return model.Offset(b.CIDR, int32(w.next[b.Name]-1))
}

// blockOf gives the first block of a node, of one family.
func (w *world) blockOf(node string, four bool) *model.Block {
	for i := range w.s.Blocks {
		if b := &w.s.Blocks[i]; b.Node() == node && b.CIDR.Addr().Is4() == four {
			return b
		}
	}
	w.t.Fatalf("no block of %s", node)
	return nil
}

func (w *world) blockWith(ip netip.Addr) *model.Block {
	for i := range w.s.Blocks {
		if w.s.Blocks[i].CIDR.Contains(ip) {
			return &w.s.Blocks[i]
		}
	}
	w.t.Fatalf("no block for %s", ip)
	return nil
}

func ordinal(b *model.Block, ip netip.Addr) int32 {
	for i := range int32(16) {
		if model.Offset(b.CIDR, i) == ip {
			return i
		}
	}
	return -1
}

// hold records an address as IPAM does, and counts it in its handle.
func (w *world) hold(ip netip.Addr, at model.Attribute, counted bool) {
	b := w.blockWith(ip)
	o := ordinal(b, ip)
	i := slices.Index(b.Attributes, at)
	if i < 0 {
		b.Attributes = append(b.Attributes, at)
		i = len(b.Attributes) - 1
	}
	b.Held = append(b.Held, model.Slot{o, int32(i)})
	b.Free = slices.DeleteFunc(b.Free, func(f int32) bool { return f == o })
	if rapid.IntRange(0, 9).Draw(w.t, "old") > 0 { // before 3.22 there was none
		b.Sequences = append(b.Sequences, model.Sequence{Ordinal: o, Number: sequence + uint64(len(b.Held))})
	}
	if !counted || at.Handle == "" {
		return
	}
	for j := range w.s.Handles {
		if h := &w.s.Handles[j]; h.ID == at.Handle {
			for k := range h.Blocks {
				if h.Blocks[k].CIDR == b.CIDR {
					h.Blocks[k].Count++
					return
				}
			}
			h.Blocks = append(h.Blocks, model.BlockCount{CIDR: b.CIDR, Count: 1})
			return
		}
	}
	w.s.Handles = append(w.s.Handles, model.Handle{ID: at.Handle, Name: at.Handle, Blocks: []model.BlockCount{{CIDR: b.CIDR, Count: 1}}})
}

// release frees addresses as a DEL does: their sequence numbers stay behind.
func (w *world) release(ips ...netip.Addr) {
	for _, ip := range ips {
		b := w.blockWith(ip)
		o := ordinal(b, ip)
		i := slices.IndexFunc(b.Held, func(s model.Slot) bool { return s[0] == o })
		at := b.Held[i][1]
		w.uncount(b.Attributes[at].Handle, b.CIDR)
		b.Held = slices.Delete(b.Held, i, i+1)
		b.Free = append(b.Free, o)
		if slices.ContainsFunc(b.Held, func(s model.Slot) bool { return s[1] == at }) {
			continue
		}
		b.Attributes = slices.Delete(b.Attributes, int(at), int(at)+1)
		for k := range b.Held {
			if b.Held[k][1] > at {
				b.Held[k][1]--
			}
		}
	}
}

// uncount takes one address from a handle, which goes with its last.
func (w *world) uncount(handle string, cidr netip.Prefix) {
	for i := range w.s.Handles {
		h := &w.s.Handles[i]
		if h.ID != handle {
			continue
		}
		for k := range h.Blocks {
			if h.Blocks[k].CIDR == cidr {
				h.Blocks[k].Count--
			}
		}
		h.Blocks = slices.DeleteFunc(h.Blocks, func(c model.BlockCount) bool { return c.Count == 0 })
	}
	w.s.Handles = slices.DeleteFunc(w.s.Handles, func(h model.Handle) bool { return h.ID == handle && len(h.Blocks) == 0 })
}
