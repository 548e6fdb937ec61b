package planner_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/change"
	"plumbline.dev/plumbline/internal/repair/planner"
)

// wild is a small cluster in which anything can be wrong: records for running pods, deleted
// pods and no pod, on the right node and on others, with handles of one address or several.
func wild(rnd *rand.Rand) (*model.Snapshot, given) {
	s := &model.Snapshot{Info: []model.Info{{GUID: "g", Calico: "v3.31.0", Datastore: "kdd", Ready: true, IPAM: "calico"}}}
	for _, t := range model.Tables() {
		s.Coverage = append(s.Coverage, model.Coverage{Table: t, State: model.Complete})
	}
	s.Pools = []model.Pool{{Name: "p", CIDR: netip.MustParsePrefix("10.0.0.0/24"), BlockSize: 28}}
	nodes := []string{"n0", "n1", "n2", "n3"} // of which the last is never there
	for i, n := range nodes[:3] {
		cidr := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(16 * i)}), 28)
		s.Nodes = append(s.Nodes, model.Node{Name: n, Ready: true})
		s.Affinities = append(s.Affinities, model.Affinity{Name: n, Node: n, Type: "host", CIDR: cidr, State: "confirmed", Labelled: true})
		s.Blocks = append(s.Blocks, model.Block{Name: model.BlockName(cidr), CIDR: cidr, Affinity: "host:" + nodes[rnd.IntN(4)], Length: 16, Sequence: 100})
	}
	if rnd.IntN(3) == 0 {
		s.Nodes[0].Tunnels = []model.Tunnel{{Kind: "vxlan", IP: netip.AddrFrom4([4]byte{10, 0, 0, byte(rnd.IntN(48))})}}
	}
	for i := range 12 {
		ip := netip.AddrFrom4([4]byte{10, 0, 0, byte(rnd.IntN(48))})
		p := model.Pod{Namespace: "shop", Name: fmt.Sprintf("p%d", i), UID: fmt.Sprintf("u%d", i), Node: nodes[rnd.IntN(3)], Phase: model.Running, Ready: true}
		p.IPs, p.ContainerID = []netip.Addr{ip}, fmt.Sprintf("%064x", i)
		switch rnd.IntN(6) {
		case 0:
			p.Phase = model.Succeeded
		case 1:
			p.Annotation = model.Absent
		case 2:
			p.Annotation, p.Deleted = model.Emptied, taken()
		default:
			p.Annotation, p.Annotated = model.Written, []netip.Addr{ip}
		}
		s.Pods = append(s.Pods, p)
	}
	for i := range s.Blocks {
		b := &s.Blocks[i]
		for n := range int32(16) {
			if rnd.IntN(2) == 0 {
				b.Free = append(b.Free, n)
				continue
			}
			who := rnd.IntN(18)
			at := model.Attribute{Handle: fmt.Sprintf("k8s-pod-network.%064x", who), Namespace: "shop", Pod: fmt.Sprintf("p%d", who), Node: nodes[rnd.IntN(4)]}
			if rnd.IntN(8) == 0 {
				at = model.Attribute{Handle: "vxlan-tunnel-addr-" + at.Node, Node: at.Node, Type: "vxlanTunnelAddress"}
			}
			b.Held = append(b.Held, model.Slot{n, int32(len(b.Attributes))})
			b.Attributes = append(b.Attributes, at)
		}
	}
	var g given
	for _, n := range nodes[:3] {
		if rnd.IntN(5) == 0 {
			g.Silent = append(g.Silent, n)
		}
	}
	if rnd.IntN(2) == 0 {
		g.NodeGone = []string{"n3"}
	}
	if rnd.IntN(4) == 0 {
		g.Rename = map[string]string{"n1": "n2"}
	}
	g.Rebuild = rnd.IntN(3) == 0
	answer(s, g)
	return s, g
}

// TestNothingInUseIsReleased: whatever the findings say, a plan releases no address that any source
// has in use, none without verification by the nodes that could use it, and of a handle
// all or nothing.
func TestNothingInUseIsReleased(t *testing.T) {
	t.Parallel()
	freed := 0
	for seed := range uint64(1000) {
		s, g := wild(rand.New(rand.NewPCG(seed, 1)))
		v := model.Seal(s)
		var fs []finding.Finding
		for i := range int32(v.Rows(model.Allocations)) { // all of it is said to be leaked
			fs = append(fs, finding.Finding{Code: "PL1001", Severity: finding.Warning, State: finding.Confirmed, Subject: v.Allocation(i).Ref()})
		}
		for i := range int32(v.Rows(model.Handles)) {
			fs = append(fs, finding.Finding{Code: "PL1006", Severity: finding.Warning, State: finding.Confirmed, Subject: v.Handle(i).Ref()})
		}
		p := planner.Make(v, fs, options(g))
		if err := p.Valid(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		freed += checkFreed(t, seed, v, p, g)
	}
	if freed < 500 {
		t.Errorf("only %d addresses were freed: this tests nothing", freed)
	}
}

func checkFreed(t *testing.T, seed uint64, v *model.View, p *repair.Plan, g given) int {
	t.Helper()
	free := map[netip.Addr]string{}
	for _, step := range p.Steps {
		os, _ := step.Change.(change.Ordinals)
		for _, o := range os {
			if o.To == nil {
				free[o.IP] = o.For
			}
		}
	}
	for ip, key := range free {
		for c := range v.Claims(ip) {
			if c.By != model.ByEndpoint {
				t.Errorf("seed %d: %s is released, and claimed by %v", seed, ip, c)
			}
		}
		at := v.AttributeOf(v.AllocationOf(ip))
		d := p.Target(key).Proof.NotInUse
		for a := range v.AllocationsBy(at.Handle) {
			if free[a.IP] == "" || !slices.Contains(d.IPs, a.IP) {
				t.Errorf("seed %d: %s is released, and %s of the same handle is not, or without verification", seed, ip, a.IP)
			}
		}
		witness := func(node string) {
			if node != "" && !d.All && !slices.Contains(d.Nodes, node) {
				t.Errorf("seed %d: %s is released without verification by %s", seed, ip, node)
			}
		}
		witness(at.Node)
		witness(v.BlockOf(v.AllocationOf(ip)).Node())
		for i := range v.Snapshot().Pods {
			if pod := &v.Snapshot().Pods[i]; slices.Contains(pod.IPs, ip) {
				witness(pod.Node)
			}
		}
		if at.Node == "n3" && !slices.Contains(g.NodeGone, "n3") {
			t.Errorf("seed %d: %s of a node without --node-gone", seed, ip)
		}
		if (at.Node == "n3" || g.Rename["n1"] != "" && !slices.Contains(g.Silent, "n1")) && !d.All {
			t.Errorf("seed %d: %s: its node is not certain, and not all nodes verify", seed, ip)
		}
		for _, n := range g.Silent {
			if d.All || slices.Contains(d.Nodes, n) {
				t.Errorf("seed %d: %s relies on %s, which is silent", seed, ip, n)
			}
		}
	}
	return len(free)
}
