package model

// KindHost is the kind of a Calico Node in etcd, which is not the Kubernetes node of that name.
const KindHost Kind = "host"

// Ref names the host.
func (h *Host) Ref() Ref { return Ref{KindHost, h.Name} }

// PutUse sets the usage of pools, by name, and of nodes, if the snapshot has only some of the
// blocks. Call it before the view is used or shared.
func (v *View) PutUse(pools, nodes map[string]Usage) {
	for i := range v.s.Pools {
		v.poolUse[i] = pools[v.s.Pools[i].Name]
	}
	v.nodeUse = nodes
}

// UseOf is what a block adds to the usage of its pool and its node.
func (b *Block) UseOf() Usage { return Usage{1, Size(b.CIDR, maxBlock), len(b.Held)} }

// Add adds another usage n times; n may be negative.
func (u Usage) Add(o Usage, n int) Usage {
	return Usage{u.Blocks + n*o.Blocks, u.Size + n*o.Size, u.Held + n*o.Held}
}
