package model

import (
	"iter"
	"net/netip"
	"slices"
)

// PodByName finds a pod, or returns nil.
func (v *View) PodByName(ns, n string) *Pod { return find(v, Pods, v.s.Pods, &v.pods, name{ns, n}) }

// NodeByName finds a node by Kubernetes' or Calico's name, or returns nil.
func (v *View) NodeByName(n string) *Node { return find(v, Nodes, v.s.Nodes, &v.nodes, n) }

// ServiceByName finds a service, or returns nil.
func (v *View) ServiceByName(ns, n string) *Service {
	return find(v, Services, v.s.Services, &v.services, name{ns, n})
}

// VMByName finds a VM, or returns nil.
func (v *View) VMByName(ns, n string) *VM { return find(v, VMs, v.s.VMs, &v.vms, name{ns, n}) }

// Claims returns all claims of the address.
func (v *View) Claims(a netip.Addr) iter.Seq[*Claim] {
	return each(v, Addresses, v.claimed, v.claims.rows(a))
}

// PodsWith returns the pods that claim the address; see Pod.Claims.
func (v *View) PodsWith(a netip.Addr) iter.Seq[*Pod] {
	v.touched[Pods] = true
	return func(yield func(*Pod) bool) {
		for row := range v.claims.rows(a) {
			if c := &v.claimed[row]; c.By == ByPod && !yield(&v.s.Pods[c.Row]) {
				return
			}
		}
	}
}

// TunnelWith returns the node whose tunnel has the address, or nil.
func (v *View) TunnelWith(a netip.Addr) *Node {
	v.touched[Nodes] = true
	for row := range v.claims.rows(a) {
		if c := &v.claimed[row]; c.By == ByTunnel {
			return &v.s.Nodes[c.Row]
		}
	}
	return nil
}

// EndpointsOf returns the endpoints of a pod, on any node.
func (v *View) EndpointsOf(ns, pod string) iter.Seq[*Endpoint] {
	return each(v, Endpoints, v.s.Endpoints, v.endpointsByPod.rows(name{ns, pod}))
}

// AllocationsOf returns the allocations of an address: several only if blocks overlap.
func (v *View) AllocationsOf(a netip.Addr) iter.Seq[*Allocation] {
	return each(v, Allocations, v.allocs, v.allocsByIP.rows(a))
}

// AllocationOf returns the first allocation of an address, or nil.
func (v *View) AllocationOf(a netip.Addr) *Allocation {
	return find(v, Allocations, v.allocs, &v.allocsByIP, a)
}

// AllocationsBy returns the allocations of a handle.
func (v *View) AllocationsBy(handle string) iter.Seq[*Allocation] {
	return each(v, Allocations, v.allocs, v.allocsByHandle.rows(HandleKey(handle)))
}

// AttributeOf returns the owner of an allocation; nil if its index is out of range.
func (v *View) AttributeOf(a *Allocation) *Attribute {
	v.touched[Blocks] = true
	return v.attribute(a)
}

func (v *View) attribute(a *Allocation) *Attribute {
	b := &v.s.Blocks[a.Block]
	if a.Attr < 0 || int(a.Attr) >= len(b.Attributes) {
		return nil
	}
	return &b.Attributes[a.Attr]
}

// Borrowed returns the allocations for another node than that of their block: Calico routes each by
// itself.
func (v *View) Borrowed() iter.Seq[*Allocation] {
	return each(v, Allocations, v.allocs, slices.Values(v.borrowed))
}

// BlockOf returns the block of an allocation.
func (v *View) BlockOf(a *Allocation) *Block {
	v.touched[Blocks] = true
	return &v.s.Blocks[a.Block]
}

// SequenceOf returns the sequence number of an ordinal; 0 if there is none.
func (b *Block) SequenceOf(ordinal int32) uint64 {
	for _, q := range b.Sequences {
		if q.Ordinal == ordinal {
			return q.Number
		}
	}
	return 0
}

// BlocksAround returns the blocks that contain all of p, the smallest first.
func (v *View) BlocksAround(p netip.Prefix) iter.Seq[*Block] {
	return each(v, Blocks, v.s.Blocks, v.blocks.around(p))
}

// BlocksWith returns the blocks that contain an address, the smallest first.
func (v *View) BlocksWith(a netip.Addr) iter.Seq[*Block] { return v.BlocksAround(host(a)) }

// BlockAt returns the block with that CIDR, or nil.
func (v *View) BlockAt(p netip.Prefix) *Block {
	return find(v, Blocks, v.s.Blocks, &v.blocks.index, p.Masked())
}

// HandlesOf returns the handles with the same HandleKey, missing ones included.
func (v *View) HandlesOf(id string) iter.Seq[*Handle] {
	v.touched[Handles] = true
	return func(yield func(*Handle) bool) {
		for i := range v.handles.rows(HandleKey(id)) {
			if !yield(v.handle(i)) {
				return
			}
		}
	}
}

// AffinitiesOf returns the affinities for a block.
func (v *View) AffinitiesOf(p netip.Prefix) iter.Seq[*Affinity] {
	return each(v, Affinities, v.s.Affinities, v.affinities.rows(p.Masked()))
}

// PoolAround returns the smallest pool that contains all of p, or nil.
func (v *View) PoolAround(p netip.Prefix) *Pool {
	v.touched[Pools] = true
	for row := range v.pools.around(p) {
		return &v.s.Pools[row]
	}
	return nil
}

// PoolWith returns the smallest pool that contains an address, or nil.
func (v *View) PoolWith(a netip.Addr) *Pool { return v.PoolAround(host(a)) }

// PoolUse is the usage of a pool, by row.
func (v *View) PoolUse(pool int32) Usage {
	v.touched[Blocks] = true
	return v.poolUse[pool]
}

// NodeUse is the usage of a node's blocks, by Calico's node name.
func (v *View) NodeUse(node string) Usage {
	return v.NodeUseOf(node, false).Plus(v.NodeUseOf(node, true))
}

// NodeUseOf is that of one family.
func (v *View) NodeUseOf(node string, six bool) Usage {
	v.touched[Blocks] = true
	return v.nodeUse[nodeFamily{node, six}]
}
