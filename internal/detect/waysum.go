package detect

import (
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/model"
)

// The kinds of ways that Calico's records give to the nodes. Of pools that use a tunnel only across
// subnets it depends on the sender which of two a node has; those of nodes whose BIRD may be down are
// in their kind, and counted once more as quiet.
const (
	viaVXLAN    = iota // routes over VXLAN, of pools that always use it
	viaIPIP            // over IPIP, likewise
	viaUplink          // without a tunnel
	crossVXLAN         // over VXLAN, to nodes of other subnets
	crossIPIP          // over IPIP, likewise
	crossDirect        // without a tunnel, in one subnet
	vtepLink           // routes to tunnel addresses
	vtepNear           // neighbour entries of tunnel addresses
	ipipLink           // routes to tunnel addresses of IPIP, over IPIP
	quietIPIP
	quietUplink
	quietCross
	quietDirect
	wayKinds
)

// A recordedWay is a way that every other node should have.
type recordedWay struct {
	kind int
	six  bool
	model.WayHash
}

// waySums sums up ways by kind, and by whether they are for IPv6.
type waySums [wayKinds][2]model.WaySums

func (s *waySums) add(ways []recordedWay) {
	for _, w := range ways {
		s[w.kind][at(w.six)].Add(w.WayHash)
	}
}

func (s *waySums) subtract(ways []recordedWay) {
	for _, w := range ways {
		s[w.kind][at(w.six)][w.Bucket] -= w.Sum
	}
}

func at(six bool) int {
	if six {
		return 1
	}
	return 0
}

// A recordedWays is what Calico's records say of the ways between nodes, summed up as agents sum up
// what their kernels have. The ways of one node are those of all less its own, so that all nodes are
// compared in the time of a few.
type recordedWays struct {
	peers  [2][]peerAt              // by address; those of IPv6 are the second
	to     map[string][]recordedWay // by node
	total  waySums
	nearby map[netip.Prefix]*waySums // of the nodes in one subnet
	blocks [model.WayBuckets][]int32 // rows of blocks, by the buckets of their route and of the neighbour entry
}

// A peerAt is a node at one of its addresses.
type peerAt struct {
	ip netip.Addr
	*farNode
}

func newRecordedWays(p *Pass) *recordedWays {
	r := &recordedWays{to: map[string][]recordedWay{}, nearby: map[netip.Prefix]*waySums{}}
	for row := range int32(p.Rows(model.Nodes)) {
		if f := p.far(p.Node(row).Name); f != nil {
			r.addNode(f)
			for _, six := range []bool{false, true} {
				for _, ip := range f.ips[six] {
					r.peers[at(six)] = append(r.peers[at(six)], peerAt{ip, f})
				}
			}
		}
	}
	for _, peers := range r.peers {
		slices.SortFunc(peers, func(a, b peerAt) int { return a.ip.Compare(b.ip) })
	}
	for row := range int32(p.Rows(model.Blocks)) {
		b := p.Block(row)
		if f := p.far(b.Node()); f != nil && !b.Deleted {
			r.addWay(f, b.CIDR.Masked(), p.PoolAround(b.CIDR))
			r.addRow(f, b.CIDR.Masked(), row)
		}
	}
	for a := range p.Borrowed() {
		if f := p.far(p.AttributeOf(a).Node); f != nil {
			r.addWay(f, netip.PrefixFrom(a.IP, a.IP.BitLen()), p.PoolWith(a.IP))
		}
	}
	for _, ways := range r.to {
		r.total.add(ways)
	}
	return r
}

func (r *recordedWays) add(f *farNode, kind int, six bool, w model.WayHash) {
	r.to[f.Name] = append(r.to[f.Name], recordedWay{kind, six, w})
}

// addNode adds a node's tunnel addresses, and the neighbour entries that others have for them.
func (r *recordedWays) addNode(f *farNode) {
	for _, ip := range f.ipip {
		if len(f.ips[false]) > 0 {
			r.add(f, ipipLink, false, model.RouteHash(netip.PrefixFrom(ip, ip.BitLen()), f.ips[false][0]))
		}
	}
	for _, six := range []bool{false, true} {
		for _, ip := range f.tunnels[six] {
			r.add(f, vtepLink, six, model.RouteHash(netip.PrefixFrom(ip, ip.BitLen()), netip.Addr{}))
			if len(f.ips[six]) > 0 {
				r.add(f, vtepNear, six, model.NeighbourHash(ip, f.mac[six], f.ips[six][0].String()))
			}
		}
	}
}

// addWay adds the way to a block or an address of a node.
func (r *recordedWays) addWay(f *farNode, dst netip.Prefix, pool *model.Pool) {
	six := dst.Addr().Is6()
	if pool == nil || len(f.ips[six]) == 0 {
		return
	}
	direct := model.RouteHash(dst, f.ips[six][0])
	quiet := func(kind int) {
		if !f.announces {
			r.add(f, kind, six, direct)
		}
	}
	always := pool.Mode == "Always"
	switch {
	case pool.Tunnel == "VXLAN" && len(f.tunnels[six]) == 0: // Felix has no route then
	case pool.Tunnel == "VXLAN" && always:
		r.add(f, viaVXLAN, six, model.RouteHash(dst, f.tunnels[six][0]))
	case pool.Tunnel == "VXLAN":
		r.add(f, crossVXLAN, six, model.RouteHash(dst, f.tunnels[six][0]))
		r.add(f, crossDirect, six, direct)
	case pool.Tunnel == "IPIP" && always:
		r.add(f, viaIPIP, six, direct)
		quiet(quietIPIP)
	case pool.Tunnel == "IPIP":
		r.add(f, crossIPIP, six, direct)
		r.add(f, crossDirect, six, direct)
		quiet(quietCross)
		quiet(quietDirect)
	default:
		r.add(f, viaUplink, six, direct)
		quiet(quietUplink)
	}
}

// addRow notes the buckets that a block's way depends on.
func (r *recordedWays) addRow(f *farNode, dst netip.Prefix, row int32) {
	bucket := model.BucketOf(dst)
	r.blocks[bucket] = append(r.blocks[bucket], row)
	for _, ip := range f.tunnels[dst.Addr().Is6()] {
		if near := model.NeighbourHash(ip, "", "").Bucket; near != bucket {
			r.blocks[near] = append(r.blocks[near], row)
		}
	}
}

// in sums up the ways to the nodes of a subnet, which is masked. Where every node has a subnet of its own,
// as in some clouds, there are as many as nodes.
func (r *recordedWays) in(subnet netip.Prefix) *waySums {
	s := r.nearby[subnet]
	if s == nil {
		s = &waySums{}
		peers, added := r.peers[at(subnet.Addr().Is6())], map[*farNode]bool{}
		first, _ := slices.BinarySearchFunc(peers, subnet.Addr(), func(p peerAt, ip netip.Addr) int { return p.ip.Compare(ip) })
		for _, p := range peers[first:] {
			if !subnet.Contains(p.ip) {
				break
			}
			if !added[p.farNode] {
				s.add(r.to[p.Name])
				added[p.farNode] = true
			}
		}
		r.nearby[subnet] = s
	}
	return s
}

// sumOf says what a sum of an agent is of.
type sumOf struct {
	kind, device string
	six          bool
}

// from are the ways that a node should have. Of some there are two right sums: with and without those
// of nodes whose BIRD may have withdrawn them, and with and without routes to tunnel addresses.
func (r *recordedWays) from(w *ways, uplinks map[bool]string) map[sumOf][]model.WaySums {
	others, own := r.total, r.to[w.n.Name]
	others.subtract(own)
	var inside waySums
	for i, subnet := range w.subnets { // each has the node itself
		if slices.Contains(w.subnets[:i], subnet) {
			continue
		}
		near, k := *r.in(subnet), at(subnet.Addr().Is6())
		near.subtract(own)
		for kind := range near {
			inside[kind][k].Plus(&near[kind][k])
		}
	}
	out := map[sumOf][]model.WaySums{}
	for k, six := range []bool{false, true} {
		sum := func(plus []*model.WaySums, minus ...*model.WaySums) (s model.WaySums) {
			for _, o := range plus {
				s.Plus(o)
			}
			for _, o := range minus {
				s.Minus(o)
			}
			return s
		}
		vxlan := map[bool]string{false: "vxlan.calico", true: "vxlan-v6.calico"}[six]
		out[sumOf{"via", vxlan, six}] = []model.WaySums{sum([]*model.WaySums{&others[viaVXLAN][k], &others[crossVXLAN][k]}, &inside[crossVXLAN][k])}
		out[sumOf{"link", vxlan, six}] = []model.WaySums{others[vtepLink][k], {}}
		out[sumOf{"neighbour", vxlan, six}] = []model.WaySums{others[vtepNear][k]}
		ipip := sum([]*model.WaySums{&others[viaIPIP][k], &others[crossIPIP][k]}, &inside[crossIPIP][k])
		quiet := sum([]*model.WaySums{&ipip, &inside[quietCross][k]}, &others[quietIPIP][k], &others[quietCross][k])
		tunnels := &others[ipipLink][k] // Felix makes routes to them, BIRD does not
		out[sumOf{"via", "tunl0", six}] = []model.WaySums{ipip, quiet, sum([]*model.WaySums{&ipip, tunnels}), sum([]*model.WaySums{&quiet, tunnels})}
		plain := sum([]*model.WaySums{&others[viaUplink][k], &inside[crossDirect][k]})
		out[sumOf{"via", uplinks[six], six}] = []model.WaySums{plain, sum([]*model.WaySums{&plain}, &others[quietUplink][k], &inside[quietDirect][k])}
	}
	return out
}
