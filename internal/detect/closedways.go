package detect

import (
	"iter"
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/model"
)

// closedWays are the buckets of a node's ways whose rows its agent did not send, because it only told
// their sums; nil if all rows are there.
type closedWays struct {
	buckets [model.WayBuckets]bool
	differ  []int // of these: the sums are not those of Calico's records
}

// has reports whether the rows of a route's bucket are not there.
func (c *closedWays) has(dst netip.Prefix) bool { return c != nil && c.buckets[model.BucketOf(dst)] }

// hasNeighbour reports whether the neighbour entry of an address may be among rows that are not there.
func (c *closedWays) hasNeighbour(ip netip.Addr) bool {
	return c != nil && c.buckets[model.NeighbourHash(ip, "", "").Bucket]
}

// OpenWays tells which buckets of which nodes must be read row by row: their sums differ from what
// Calico's records say, or the sums alone say too little.
func OpenWays(v *model.View) map[string][]int {
	p := &Pass{View: v, Calico: Recognise(v), d: PL3007}
	out := map[string][]int{}
	for row := range int32(p.Rows(model.Nodes)) {
		n := p.Node(row)
		if m := p.MachineOf(n.Name); m == nil || !m.Summed || eBPF(p, n.Name) {
			continue
		}
		if c := newWays(p, n).closed; c != nil && len(c.differ) > 0 {
			out[n.Name] = slices.Sorted(slices.Values(slices.Concat(c.differ, p.MachineOf(n.Name).Open)))
		}
	}
	return out
}

// close compares the sums of a node's ways with Calico's records.
func (w *ways) close() *closedWays {
	m := w.p.MachineOf(w.n.Name)
	if m == nil || !m.Summed {
		return nil
	}
	c := &closedWays{}
	for b := range c.buckets {
		c.buckets[b] = !slices.Contains(m.Open, b)
	}
	if w.p.recorded == nil {
		w.p.recorded = newRecordedWays(w.p)
	}
	want := w.p.recorded.from(w, w.uplinkNames())
	told := map[sumOf]*model.WaySums{}
	for i := range m.Ways {
		told[sumOf{m.Ways[i].Kind, m.Ways[i].Device, m.Ways[i].IPv6}] = &m.Ways[i].Sums
		if k := (sumOf{m.Ways[i].Kind, m.Ways[i].Device, m.Ways[i].IPv6}); want[k] == nil {
			want[k] = []model.WaySums{{}} // nothing of Calico's
		}
	}
	simple, sums := w.simple(), make([]comparedSums, 0, len(want))
	for k, right := range want {
		sums = append(sums, comparedSums{right, told[k]})
	}
	for b := range c.buckets {
		if c.buckets[b] && (!simple || differs(sums, b)) {
			c.differ = append(c.differ, b)
		}
	}
	return c
}

// blocks are the rows of the blocks to judge: all, or those in buckets whose rows are there.
func (w *ways) blocks() iter.Seq[int32] {
	return func(yield func(int32) bool) {
		if w.closed == nil {
			for i := range int32(w.p.Rows(model.Blocks)) {
				if !yield(i) {
					return
				}
			}
			return
		}
		var rows []int32
		for b, closed := range w.closed.buckets {
			if !closed {
				rows = append(rows, w.p.recorded.blocks[b]...)
			}
		}
		slices.Sort(rows)
		for _, i := range slices.Compact(rows) {
			if !yield(i) {
				return
			}
		}
	}
}

// beyond judges what follows a route whose row is not there: the neighbour entry of its next hop.
func (w *ways) beyond(dst netip.Prefix, peer *farNode, pool *model.Pool) fault {
	six := dst.Addr().Is6()
	tunnel, needed := w.tunnel(pool, peer.ips[six])
	if !needed || pool.Tunnel != "VXLAN" || len(peer.tunnels[six]) == 0 || w.closed.hasNeighbour(peer.tunnels[six][0]) {
		return fault{}
	}
	l := w.p.LinkNamed(w.n.Name, tunnel)
	if l == nil {
		return fault{}
	}
	return w.vxlan(&model.Route{Dst: dst, Gateway: peer.tunnels[six][0]}, l, peer)
}

// comparedSums are the right sums of ways of one kind, and what an agent told; nil: it has none of them.
type comparedSums struct {
	right []model.WaySums
	told  *model.WaySums
}

// differs reports whether a bucket has other ways than those of the records.
func differs(sums []comparedSums, bucket int) bool {
	for i := range sums {
		has, same := uint64(0), false
		if sums[i].told != nil {
			has = sums[i].told[bucket]
		}
		for k := range sums[i].right {
			same = same || sums[i].right[k][bucket] == has
		}
		if !same {
			return true
		}
	}
	return false
}

// simple reports whether routes of the main table decide alone, over interfaces that are up: then equal
// sums say all.
func (w *ways) simple() bool {
	for i := range w.routing.rules {
		if u := &w.routing.rules[i]; u.Other || u.Mark != 0 || u.In != "" || u.Type != "" || u.Src.IsValid() || u.Dst.IsValid() || u.Table < tableMain-1 || u.Table > tableLocal {
			return false
		}
	}
	for _, l := range w.p.LinksOn(w.n.Name) {
		tunnel := l.Name == "vxlan.calico" || l.Name == "vxlan-v6.calico" || l.Name == "tunl0" && w.p.usesIPIP()
		if tunnel && !l.Up || l.Kind == "wireguard" && l.Up {
			return false
		}
	}
	return true
}

func (p *Pass) usesIPIP() bool {
	return slices.ContainsFunc(p.Snapshot().Pools, func(l model.Pool) bool { return l.Tunnel == "IPIP" })
}

// uplinkNames are the interfaces with the node's addresses in Calico, by whether these are IPv6.
func (w *ways) uplinkNames() map[bool]string {
	out := map[bool]string{}
	for _, l := range w.p.LinksOn(w.n.Name) {
		for _, ip := range l.IPs {
			if slices.Contains(w.p.CalicoIPsOf(w.n), ip.Addr().Unmap()) {
				out[ip.Addr().Is6()] = l.Name
			}
		}
	}
	return out
}
