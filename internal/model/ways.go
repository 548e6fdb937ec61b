package model

import (
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/netip"
	"slices"
)

// WayBuckets is into how many parts the ways to other nodes are summed up. What differs from Calico's
// records is read again, a bucket at a time: in a large cluster some block is always new.
const WayBuckets = 64

// WaySums has a sum for each bucket. A sum does not depend on the order of what is added, and what was
// added can be subtracted.
type WaySums [WayBuckets]uint64

// A WaySum sums up routes or neighbour entries of one interface that lead to other nodes: a node of a
// large cluster has thousands, nearly always as Calico's records say.
type WaySum struct {
	Kind   string  `json:"kind"` // via: routes with a next hop; link: routes to one address without; neighbour: with its FDB entry
	Device string  `json:"device"`
	IPv6   bool    `json:"ipv6,omitempty"`
	Count  int     `json:"count"`
	Sums   WaySums `json:"sums"`
}

// MarshalText encodes the sums.
func (s WaySums) MarshalText() ([]byte, error) {
	b := make([]byte, 0, 8*WayBuckets)
	for _, n := range s {
		b = binary.BigEndian.AppendUint64(b, n)
	}
	return hex.AppendEncode(nil, b), nil
}

// UnmarshalText decodes the sums.
func (s *WaySums) UnmarshalText(text []byte) error {
	if len(text) != 16*WayBuckets {
		return fmt.Errorf("sums of %d characters", len(text))
	}
	b, err := hex.AppendDecode(nil, text)
	if err != nil {
		return err
	}
	for i := range s {
		s[i] = binary.BigEndian.Uint64(b[8*i:])
	}
	return nil
}

// Add adds a way.
func (s *WaySums) Add(w WayHash) { s[w.Bucket] += w.Sum }

// Plus adds all that another sum has, Minus subtracts it.
func (s *WaySums) Plus(o *WaySums) {
	for i := range s {
		s[i] += o[i]
	}
}

// Minus subtracts what Plus adds.
func (s *WaySums) Minus(o *WaySums) {
	for i := range s {
		s[i] -= o[i]
	}
}

// A WayHash is one way: the bucket of its destination, and what it adds there.
type WayHash struct {
	Bucket int
	Sum    uint64
}

// RouteHash is that of a route to dst by a next hop, which may be invalid.
func RouteHash(dst netip.Prefix, gateway netip.Addr) WayHash {
	h := fnvAddr(fnvOffset, dst.Addr())
	h = (h ^ uint64(dst.Bits())) * fnvPrime
	return WayHash{bucketOf(h), mixed(fnvAddr(h, gateway))}
}

// NeighbourHash is that of a neighbour entry, and of where the forwarding database sends its packets.
func NeighbourHash(ip netip.Addr, mac, fdb string) WayHash {
	h := fnvAddr(fnvOffset, ip)
	return WayHash{bucketOf(h), mixed(fnvText(fnvText(h, mac), fdb))}
}

// BucketOf is the bucket of routes to a prefix.
func BucketOf(dst netip.Prefix) int { return RouteHash(dst, netip.Addr{}).Bucket }

const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

func bucketOf(h uint64) int { return int(mixed(h) % WayBuckets) }

func fnvAddr(h uint64, a netip.Addr) uint64 {
	b := a.As16()
	for _, c := range b {
		h = (h ^ uint64(c)) * fnvPrime
	}
	if !a.IsValid() {
		h = (h ^ 1) * fnvPrime
	}
	return h
}

func fnvText(h uint64, s string) uint64 {
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * fnvPrime
	}
	return (h ^ 0x100) * fnvPrime
}

// mixed spreads all bits: sums of plain FNV hashes of similar addresses could meet.
func mixed(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// SumWays replaces the routes and neighbour entries of tunnels and next hops by their sums, which it
// puts into the row of the machine, except those of open buckets. Without that row nothing changes. What
// is summed up already stays so.
func (f *NodeState) SumWays(open []int) {
	if len(f.Machines) == 0 {
		return
	}
	links := map[int]*Link{}
	for i := range f.Links {
		links[f.Links[i].Index] = &f.Links[i]
	}
	is := [WayBuckets]bool{}
	for _, b := range open {
		if b >= 0 && b < WayBuckets {
			is[b] = true
		}
	}
	s := summing{sums: map[wayKey]*WaySum{}, open: is}
	for _, w := range f.Machines[0].Ways {
		s.sums[wayKey{w.Kind, w.Device, w.IPv6}] = &w
	}
	f.Routes = slices.DeleteFunc(slices.Clone(f.Routes), func(r Route) bool { return s.route(&r, links[r.Link]) })
	f.Neighbours = slices.DeleteFunc(slices.Clone(f.Neighbours), func(n Neighbour) bool { return s.neighbour(&n, links[n.Link]) })
	f.Machines = slices.Clone(f.Machines)
	f.Machines[0].Summed, f.Machines[0].Ways, f.Machines[0].Open = true, s.rows(), slices.Clone(open)
}

type wayKey struct {
	kind, device string
	six          bool
}

type summing struct {
	sums map[wayKey]*WaySum
	open [WayBuckets]bool
}

// mainTable is the kernel's number of its main routing table.
const mainTable = 254

func (s *summing) route(r *Route, l *Link) bool {
	kind := r.way(l)
	return kind != "" && s.add(wayKey{kind, l.Name, r.Dst.Addr().Is6()}, RouteHash(r.Dst.Masked(), r.Gateway))
}

// way is the kind of way to other nodes that a route over an interface is; empty if it is none.
func (r *Route) way(l *Link) string {
	switch {
	case l == nil || r.Type != "" || r.Table != mainTable || r.Metric != 0 || r.Dst.Bits() == 0 || !r.Dst.IsValid():
		return ""
	case r.Gateway.IsValid():
		return "via"
	case r.Dst.IsSingleIP() && l.Kind == "vxlan":
		return "link"
	default:
		return ""
	}
}

// IsWay reports whether SumWays sums up a route over an interface, which may be nil.
func (r *Route) IsWay(l *Link) bool { return r.way(l) != "" }

// IsWay reports whether SumWays sums up a neighbour entry on an interface, which may be nil.
func (n *Neighbour) IsWay(l *Link) bool {
	return l != nil && n.FDB != "" && n.State == "PERMANENT" && !n.Proxy
}

func (s *summing) neighbour(n *Neighbour, l *Link) bool {
	return n.IsWay(l) && s.add(wayKey{"neighbour", l.Name, n.IP.Is6()}, NeighbourHash(n.IP, n.MAC, n.FDB))
}

func (s *summing) add(k wayKey, w WayHash) bool {
	if s.open[w.Bucket] {
		return false
	}
	sum := s.sums[k]
	if sum == nil {
		sum = &WaySum{Kind: k.kind, Device: k.device, IPv6: k.six}
		s.sums[k] = sum
	}
	sum.Count++
	sum.Sums.Add(w)
	return true
}

// rows are the sums, in a fixed order.
func (s *summing) rows() []WaySum {
	var out []WaySum
	for _, w := range s.sums {
		out = append(out, *w)
	}
	slices.SortFunc(out, func(a, b WaySum) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Device, b.Device), cmp.Compare(map[bool]int{true: 1}[a.IPv6], map[bool]int{true: 1}[b.IPv6]))
	})
	return out
}
