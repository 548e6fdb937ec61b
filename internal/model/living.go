package model

// KindHost names a node as Calico keeps it in etcd: it is not Kubernetes' of that name.
const KindHost Kind = "host"

// Ref names the host.
func (h *Host) Ref() Ref { return Ref{KindHost, h.Name} }

// PutUse says how many addresses pools, by name, and nodes have in all, where the snapshot
// holds only some of the blocks.
func (v *View) PutUse(pools, nodes map[string]Usage) {
	for i := range v.s.Pools {
		v.poolUse[i] = pools[v.s.Pools[i].Name]
	}
	v.nodeUse = nodes
}

// UseOf counts what a block adds to the usage of its pool and its node.
func (b *Block) UseOf() Usage { return Usage{1, Size(b.CIDR, maxBlock), len(b.Held)} }

// Add adds another usage, n times.
func (u Usage) Add(o Usage, n int) Usage {
	return Usage{u.Blocks + n*o.Blocks, u.Size + n*o.Size, u.Held + n*o.Held}
}
