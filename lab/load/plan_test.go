package load

import (
	"testing"

	"plumbline.dev/plumbline/lab"
)

func TestPlanRefusesImpossibleConfigs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]Config{
		"no node":                   {},
		"too many nodes":            {Nodes: maxNodes + 1},
		"too many pods":             {Nodes: 1, PodsPerNode: maxPodsPerNode + 1},
		"more blocks than the pool": {Nodes: maxNodes, PodsPerNode: 64},
		"endpoints in annotations":  {Nodes: 1, PodsPerNode: 1, Faults: Faults{StaleEndpoint: 1}},
		"no other node":             {Nodes: 1, PodsPerNode: 1, Faults: Faults{WrongNode: 1}},
		"more faults than pods":     {Nodes: 2, PodsPerNode: 3, Faults: Faults{SharedAddress: 4}},
	} {
		if _, err := newPlan(c.withDefaults(), lab.KDD); err == nil {
			t.Errorf("%s: planned", name)
		}
	}
}

func TestNodesGetEnoughBlocks(t *testing.T) {
	t.Parallel()
	for pods, want := range map[int]int{0: 1, 63: 1, 64: 2, 127: 2, 128: 3, maxPodsPerNode: 20} {
		p, err := newPlan(Config{Nodes: 3, PodsPerNode: pods}.withDefaults(), lab.KDD)
		if err != nil {
			t.Fatal(err)
		}
		if c := p.cell(2); len(c.blocks) != want || len(c.affinities) != want || len(c.pods) != pods {
			t.Errorf("%d pods: %d blocks, %d affinities, %d pods", pods, len(c.blocks), len(c.affinities), len(c.pods))
		}
	}
}

func TestFaultsAreSpread(t *testing.T) {
	t.Parallel()
	p, err := newPlan(Config{Nodes: 10, PodsPerNode: 10, Faults: Faults{Leaked: 12, Unallocated: 8, BadIndex: 2}}.withDefaults(), lab.KDD)
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range p.nodes {
		want := 2
		if i >= p.Nodes {
			want = 1
		}
		if len(n.faults) != want {
			t.Errorf("%s has %d faults, want %d", nodeName(i), len(n.faults), want)
		}
	}
}
