package load

import (
	"fmt"
	"math/rand/v2"

	"plumbline.dev/plumbline/lab"
)

// A plan has, for every node, its number of blocks and its faults, so that the nodes can
// be created in parallel, independently of each other.
type plan struct {
	Config
	datastore lab.Datastore
	apps      []app
	nodes     []share
	gone      []int // blocks of affinities without a node, after all existing blocks
}

// A share is the part of one node.
type share struct {
	pods   int
	blocks []int
	faults []injection
}

// An injection is a planned fault. Its serial is unique among all pods and faults, for
// names; its index, among those of its kind.
type injection struct {
	kind          Kind
	serial, index int
}

// The limits of unique names and addresses. A node may have 20 blocks, by Calico's
// default.
const (
	maxNodes       = 60_000
	maxPodsPerNode = 20*blockSize - 1
	podsPerApp     = 12
)

func newPlan(c Config, d lab.Datastore) (*plan, error) {
	switch {
	case c.Nodes < 1 || c.Nodes > maxNodes:
		return nil, fmt.Errorf("%d nodes: want 1 to %d", c.Nodes, maxNodes)
	case c.PodsPerNode < 0 || c.PodsPerNode > maxPodsPerNode:
		return nil, fmt.Errorf("%d pods per node: want 0 to %d", c.PodsPerNode, maxPodsPerNode)
	case c.Faults[StaleEndpoint] > 0 && d != lab.Etcd:
		return nil, fmt.Errorf("%w: %s: only Calico's own etcd can have endpoints without a pod", ErrFault, StaleEndpoint)
	case c.Faults[WrongNode] > 0 && c.Nodes < 2:
		return nil, fmt.Errorf("%w: %s needs a second node", ErrFault, WrongNode)
	}
	r := rand.New(rand.NewPCG(c.Seed, 0))
	p := &plan{Config: c, datastore: d, nodes: make([]share, c.Nodes)}
	for i := range p.nodes {
		p.nodes[i].pods = c.PodsPerNode
	}
	if err := p.spread(r); err != nil {
		return nil, err
	}
	if err := p.divide(); err != nil {
		return nil, err
	}
	p.apps = newApps(r, max(1, c.Nodes*c.PodsPerNode/podsPerApp))
	return p, nil
}

// spread distributes the faults, one to each node before any gets a second. A broken
// block gets a node without other faults.
func (p *plan) spread(r *rand.Rand) error {
	serial := p.Nodes * p.PodsPerNode
	order := r.Perm(p.Nodes)
	turn := 0
	for _, kind := range Kinds {
		for index := range p.Faults[kind] {
			f := injection{kind, serial, index}
			serial++
			if kind == BadIndex {
				p.nodes = append(p.nodes, share{faults: []injection{f}})
				continue
			}
			n := &p.nodes[order[turn%len(order)]]
			n.faults = append(n.faults, f)
			turn++
		}
	}
	for i, n := range p.nodes {
		taken := 0
		for _, f := range n.faults {
			taken += f.kind.pods()
		}
		if taken > n.pods {
			return fmt.Errorf("%w: %s has %d pods, and its faults need %d: fewer faults, or more nodes or pods", ErrFault, nodeName(i), n.pods, taken)
		}
	}
	return nil
}

// divide gives the pool's blocks to the nodes, in order.
func (p *plan) divide() error {
	next := 0
	take := func(n int) (blocks []int) {
		for range n {
			blocks = append(blocks, next)
			next++
		}
		return blocks
	}
	for i := range p.nodes {
		n := &p.nodes[i]
		addresses, broken := 1+n.pods, 0 // one for the tunnel
		for _, f := range n.faults {
			addresses += f.kind.addresses()
			if f.kind == BadIndex {
				broken++
			}
		}
		n.blocks = take((addresses+blockSize-1)/blockSize + broken)
	}
	p.gone = take(p.Faults[GoneNodeAffinity])
	if next > poolBlocks {
		return fmt.Errorf("%d blocks do not fit into pool %s, which has %d", next, pool, poolBlocks)
	}
	return nil
}

func nodeName(i int) string { return fmt.Sprintf("worker-%05d", i) }
