package planner_test

import (
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair/change"
	"plumbline.dev/plumbline/internal/repair/planner"
)

// leaky is a cluster of one block per node, of which each holds some leaked addresses: the
// handle of every fourth has a second one in the next node's block.
func leaky(blocks, leaks int) (*model.Snapshot, []finding.Finding) {
	s := &model.Snapshot{Info: []model.Info{{GUID: "g", Calico: "v3.31.0", Datastore: "kdd", Ready: true, IPAM: "calico"}}}
	for _, t := range model.Tables() {
		s.Coverage = append(s.Coverage, model.Coverage{Table: t, State: model.Complete, Revision: "41"})
	}
	s.Pools = []model.Pool{{Name: "p", CIDR: netip.MustParsePrefix("10.0.0.0/8"), BlockSize: 26}}
	var fs []finding.Finding
	for i := range blocks {
		node := fmt.Sprintf("n%04d", i)
		cidr := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(i / 1024), byte(i / 4), byte(i % 4 * 64)}), 26)
		s.Nodes = append(s.Nodes, model.Node{Name: node, Ready: true})
		s.Affinities = append(s.Affinities, model.Affinity{Name: node, Node: node, Type: "host", CIDR: cidr, State: "confirmed", Labelled: true})
		s.Blocks = append(s.Blocks, model.Block{Name: model.BlockName(cidr), CIDR: cidr, Affinity: "host:" + node, Length: 64, Sequence: 9})
	}
	for n := range leaks {
		b := &s.Blocks[n%blocks]
		at := model.Attribute{Handle: fmt.Sprintf("k8s-pod-network.%064x", n-n%4/3), Namespace: "shop", Pod: fmt.Sprintf("p%d", n), Node: b.Node()}
		ordinal := int32(n / blocks)
		b.Held = append(b.Held, model.Slot{ordinal, int32(len(b.Attributes))})
		b.Attributes = append(b.Attributes, at)
		ip := model.Offset(b.CIDR, ordinal)
		s.Handles = append(s.Handles, model.Handle{ID: at.Handle, Name: at.Handle, Blocks: []model.BlockCount{{CIDR: b.CIDR, Count: 1}}, Revision: "5"})
		fs = append(fs, finding.Finding{Code: "PL1001", Severity: finding.Warning, State: finding.Confirmed, Subject: model.Ref{Kind: model.KindAddress, Name: ip.String()}})
	}
	for i := range s.Blocks {
		for n := int32(len(s.Blocks[i].Held)); n < 64; n++ {
			s.Blocks[i].Free = append(s.Blocks[i].Free, n)
		}
	}
	answer(s, given{})
	return s, fs
}

// TestOneStepPerObject: however many findings are about a block or a handle, it is written
// once, and after what must come before it.
func TestOneStepPerObject(t *testing.T) {
	t.Parallel()
	s, fs := leaky(141, 588)
	p := planner.Make(model.Seal(s), fs, options(given{}))
	if err := p.Valid(); err != nil {
		t.Fatal(err)
	}
	if len(p.Refused) > 0 || len(p.Targets) != 588 {
		t.Fatalf("%d targets, refused %v", len(p.Targets), p.Refused[:min(3, len(p.Refused))])
	}
	at := map[model.Ref]int{}
	blocks, freed := 0, 0
	for i, step := range p.Steps {
		if _, twice := at[step.On]; twice {
			t.Errorf("%s twice", step.On)
		}
		at[step.On] = i
		if step.On.Kind == model.KindBlock {
			blocks++
			os, _ := step.Change.(change.Ordinals)
			freed += len(os)
		}
		if step.ID != i+1 {
			t.Errorf("step %d is called %d", i+1, step.ID)
		}
	}
	if blocks != 141 || freed != 588 {
		t.Errorf("%d blocks, %d addresses", blocks, freed)
	}
	for i, step := range p.Steps {
		count, ok := step.Change.(*change.Count)
		if !ok {
			continue
		}
		for _, c := range count.Blocks {
			if at[model.Ref{Kind: model.KindBlock, Name: c.String()}] > i {
				t.Errorf("%s is counted before %s is written", step.On, c)
			}
		}
	}
	if p.KubeRevision != "41" {
		t.Errorf("revision %q", p.KubeRevision)
	}
	handles := len(p.Steps) - blocks
	want := time.Duration(float64(blocks)/10*float64(time.Second)) + time.Duration(float64(handles)/100*float64(time.Second))
	if got := p.Takes(10, 100, 20); got.Round(time.Millisecond) != want.Round(time.Millisecond) {
		t.Errorf("takes %s, want %s", got, want)
	}
}

// TestSameEveryTime: neither the order of findings nor that of rows shows in a plan.
func TestSameEveryTime(t *testing.T) {
	t.Parallel()
	s, fs := leaky(7, 40)
	first := planner.Make(model.Seal(s), fs, options(given{}))
	s, fs = leaky(7, 40)
	slices.Reverse(fs)
	slices.Reverse(s.Handles)
	slices.Reverse(s.Pods)
	slices.Reverse(s.Coverage)
	if second := planner.Make(model.Seal(s), fs, options(given{})); !reflect.DeepEqual(first, second) {
		t.Errorf("differs:\n%s\n%s", text(first), text(second))
	}
}

// TestExplained: what another finding explains is repaired with it, or refused; handed
// in by itself it is planned.
func TestExplained(t *testing.T) {
	t.Parallel()
	s, fs := leaky(2, 4)
	v := model.Seal(s)
	head := finding.Finding{Code: "PL2010", State: finding.Confirmed, Subject: model.Ref{Kind: model.KindAddress, Name: "10.9.9.9"}, Explains: []string{"PL1002/10.9.9.9", "PL1008/10.9.9.9", fs[0].Key()}}
	p := planner.Make(v, []finding.Finding{head}, options(given{}))
	keys := func() []string {
		var out []string
		for _, r := range p.Refused {
			out = append(out, r.Finding)
		}
		return out
	}
	if got := keys(); slices.Contains(got, "PL1002/10.9.9.9") || !slices.Contains(got, "PL1008/10.9.9.9") {
		t.Errorf("%v", got)
	}
	block := finding.Finding{Code: "PL1004", State: finding.Confirmed, Subject: s.Blocks[0].Ref(), Explains: []string{fs[0].Key()}}
	p = planner.Make(v, []finding.Finding{block}, options(given{}))
	if got := keys(); !slices.Contains(got, fs[0].Key()) || p.Target(fs[0].Key()) != nil {
		t.Errorf("%v", got)
	}
	p = planner.Make(v, []finding.Finding{block, fs[0]}, options(given{}))
	if got := keys(); slices.Contains(got, fs[0].Key()) || p.Target(fs[0].Key()) == nil {
		t.Errorf("handed in: %v", got)
	}
}

func BenchmarkMake(b *testing.B) {
	s, fs := leaky(5000, 150_000)
	v := model.Seal(s)
	for b.Loop() {
		planner.Make(v, fs, options(given{AllowMassChange: true}))
	}
}
