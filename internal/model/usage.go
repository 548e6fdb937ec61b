package model

// A Usage counts the addresses of a pool, or of a node's blocks.
type Usage struct {
	Blocks int // number of blocks
	Size   int // number of addresses in them
	Held   int // number of allocated addresses in them
}

// countUse sums up blocks by pool (the smallest that contains the block) and by node.
func (v *View) countUse() {
	v.poolUse = make([]Usage, len(v.s.Pools))
	v.nodeUse = make(map[string]Usage, len(v.s.Nodes))
	add := func(u Usage, b *Block) Usage {
		return Usage{u.Blocks + 1, u.Size + Size(b.CIDR, maxBlock), u.Held + len(b.Held)}
	}
	for i := range v.s.Blocks {
		b := &v.s.Blocks[i]
		for row := range v.pools.around(b.CIDR) {
			v.poolUse[row] = add(v.poolUse[row], b)
			break
		}
		if n := b.Node(); n != "" {
			v.nodeUse[n] = add(v.nodeUse[n], b)
		}
	}
}
