package model

import (
	"iter"
	"net/netip"
)

// PodByName finds a pod, or gives nil.
func (v *View) PodByName(ns, n string) *Pod { return find(v, Pods, v.s.Pods, &v.pods, name{ns, n}) }

// NodeByName finds a node, or gives nil.
func (v *View) NodeByName(n string) *Node { return find(v, Nodes, v.s.Nodes, &v.nodes, n) }

// ServiceByName finds a service, or gives nil.
func (v *View) ServiceByName(ns, n string) *Service {
	return find(v, Services, v.s.Services, &v.services, name{ns, n})
}

// VMByName finds a machine, or gives nil.
func (v *View) VMByName(ns, n string) *VM { return find(v, VMs, v.s.VMs, &v.vms, name{ns, n}) }

// Claims gives all who say that the address is theirs.
func (v *View) Claims(a netip.Addr) iter.Seq[*Claim] {
	return each(v, Addresses, v.claimed, v.claims.rows(a))
}

// PodsWith gives the living pods that claim the address.
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

// TunnelWith gives the node whose tunnel claims the address.
func (v *View) TunnelWith(a netip.Addr) *Node {
	v.touched[Nodes] = true
	for row := range v.claims.rows(a) {
		if c := &v.claimed[row]; c.By == ByTunnel {
			return &v.s.Nodes[c.Row]
		}
	}
	return nil
}

// EndpointsOf gives the endpoints of a pod.
func (v *View) EndpointsOf(ns, pod string) iter.Seq[*Endpoint] {
	return each(v, Endpoints, v.s.Endpoints, v.endpointsByPod.rows(name{ns, pod}))
}

// AllocationsOf gives the allocations of an address: more than one only if blocks overlap.
func (v *View) AllocationsOf(a netip.Addr) iter.Seq[*Allocation] {
	return each(v, Allocations, v.allocs, v.allocsByIP.rows(a))
}

// AllocationOf gives the allocation of an address, or nil.
func (v *View) AllocationOf(a netip.Addr) *Allocation {
	return find(v, Allocations, v.allocs, &v.allocsByIP, a)
}

// AllocationsBy gives the allocations that a handle holds.
func (v *View) AllocationsBy(handle string) iter.Seq[*Allocation] {
	return each(v, Allocations, v.allocs, v.allocsByHandle.rows(HandleKey(handle)))
}

// AttributeOf says who holds an allocation; nil if its index points nowhere.
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

// BlockOf gives the block that an allocation is part of.
func (v *View) BlockOf(a *Allocation) *Block {
	v.touched[Blocks] = true
	return &v.s.Blocks[a.Block]
}

// SequenceOf gives the number under which an ordinal was assigned; 0 if there is none.
func (b *Block) SequenceOf(ordinal int32) uint64 {
	for _, q := range b.Sequences {
		if q.Ordinal == ordinal {
			return q.Number
		}
	}
	return 0
}

// BlocksAround gives the blocks that contain all of p, the smallest first.
func (v *View) BlocksAround(p netip.Prefix) iter.Seq[*Block] {
	return each(v, Blocks, v.s.Blocks, v.blocks.around(p))
}

// BlocksWith gives the blocks that an address lies in, the smallest first.
func (v *View) BlocksWith(a netip.Addr) iter.Seq[*Block] { return v.BlocksAround(host(a)) }

// BlockAt gives the block of that range, or nil.
func (v *View) BlockAt(p netip.Prefix) *Block {
	return find(v, Blocks, v.s.Blocks, &v.blocks.index, p.Masked())
}

// HandlesOf gives the handles whose names are the same to Calico.
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

// AffinitiesOf gives the affinities for a block.
func (v *View) AffinitiesOf(p netip.Prefix) iter.Seq[*Affinity] {
	return each(v, Affinities, v.s.Affinities, v.affinities.rows(p.Masked()))
}

// PoolAround gives the smallest pool that contains all of p, or nil.
func (v *View) PoolAround(p netip.Prefix) *Pool {
	v.touched[Pools] = true
	for row := range v.pools.around(p) {
		return &v.s.Pools[row]
	}
	return nil
}

// PoolWith gives the smallest pool that an address lies in, or nil.
func (v *View) PoolWith(a netip.Addr) *Pool { return v.PoolAround(host(a)) }

// PoolUse counts a pool's addresses.
func (v *View) PoolUse(pool int32) Usage {
	v.touched[Blocks] = true
	return v.poolUse[pool]
}

// NodeUse counts the addresses of a node's blocks.
func (v *View) NodeUse(node string) Usage {
	v.touched[Blocks] = true
	return v.nodeUse[node]
}
