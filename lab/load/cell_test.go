package load

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"testing"

	"plumbline.dev/plumbline/lab"
)

var everything = Config{Nodes: 15, PodsPerNode: 70, Seed: 3, Now: noon, Faults: Faults{
	Leaked: 5, Unallocated: 4, OrphanHandle: 3, MiscountedHandle: 3, MissingHandle: 2, NoAnnotation: 4, StaleEndpoint: 3,
	SharedAddress: 3, WrongNode: 4, GoneNodeAffinity: 3, BadIndex: 2, Finished: 6,
}}

func mustPlan(t *testing.T, c Config, d lab.Datastore) *plan {
	t.Helper()
	p, err := newPlan(c.withDefaults(), d)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// stored returns everything that is written for a plan.
func (p *plan) stored(t *testing.T) (puts []put) {
	t.Helper()
	for i := range p.nodes {
		c := p.cell(i)
		if p.datastore == lab.KDD {
			all, err := kddObjects(c)
			if err != nil {
				t.Fatal(err)
			}
			puts = append(puts, all...)
			continue
		}
		kubernetes, calico, err := etcdObjects(c)
		if err != nil {
			t.Fatal(err)
		}
		puts = append(puts, append(kubernetes, calico...)...)
	}
	return puts
}

func TestSeedDeterminesTheCluster(t *testing.T) {
	t.Parallel()
	for _, d := range []lab.Datastore{lab.KDD, lab.Etcd} {
		c := everything
		if d == lab.KDD {
			c.Faults = maps.Clone(c.Faults)
			delete(c.Faults, StaleEndpoint)
		}
		first, again := mustPlan(t, c, d).stored(t), mustPlan(t, c, d).stored(t)
		c.Seed++
		other := mustPlan(t, c, d).stored(t)
		same := func(a, b put) bool { return a.key == b.key && bytes.Equal(a.value, b.value) }
		if !slices.EqualFunc(first, again, same) {
			t.Errorf("%s: a plan gives two clusters", d)
		}
		if slices.EqualFunc(first, other, same) {
			t.Errorf("%s: two seeds give one cluster", d)
		}
		keys := map[string]bool{}
		for _, p := range first {
			if keys[p.key] {
				t.Errorf("%s: %s is written twice", d, p.key)
			}
			keys[p.key] = true
		}
	}
}

// TestBlocksAreConsistent: blocks keep Calico's invariants, except those that are broken
// on purpose.
func TestBlocksAreConsistent(t *testing.T) {
	t.Parallel()
	p := mustPlan(t, everything, lab.Etcd)
	for i := range p.nodes {
		c := p.cell(i)
		for _, b := range c.blocks {
			if slices.ContainsFunc(c.faults, func(f Fault) bool { return f.Kind == BadIndex && f.Subject == b.CIDR }) {
				continue
			}
			state := make([]int, blockSize) // how often each ordinal is free or allocated
			used := make([]int, len(b.Attributes))
			for ord, at := range b.Allocations {
				if at == nil {
					continue
				}
				state[ord]++
				used[*at]++
				if seq := b.SequenceOf[strconv.Itoa(ord)]; seq == 0 || seq >= b.Sequence {
					t.Errorf("%s: ordinal %d has sequence number %d, the block %d", b.CIDR, ord, seq, b.Sequence)
				}
			}
			for _, ord := range b.Unallocated {
				state[ord]++
			}
			if slices.ContainsFunc(state, func(n int) bool { return n != 1 }) || slices.ContainsFunc(used, func(n int) bool { return n != 1 }) {
				t.Errorf("%s: ordinals %v, attributes %v", b.CIDR, state, used)
			}
		}
	}
}

func TestSequenceNumbersAreExact(t *testing.T) {
	t.Parallel()
	b := mustPlan(t, everything, lab.Etcd).cell(0).blocks[0]
	want := []byte(`"sequenceNumber":` + strconv.FormatUint(b.Sequence, 10) + `,`)
	kdd, err := b.resource(noon)
	if err != nil {
		t.Fatal(err)
	}
	etcd, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	if b.Sequence < 1<<60 || !bytes.Contains(kdd.value, want) || !bytes.Contains(etcd, want) {
		t.Errorf("%s is not in\n%s\n%s", want, kdd.value, etcd)
	}
}
