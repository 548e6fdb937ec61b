package detect_test

import (
	"crypto/sha1" //nolint:gosec // Felix's choice
	"fmt"
	"net/netip"
	"testing"

	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/model"
)

// mesh is a healthy cluster in which every node has a way to every block of the others.
func mesh(nodes, blocks int) *model.Snapshot {
	s := &model.Snapshot{
		Info:      []model.Info{{IPAM: "calico", Networking: "calico", Datastore: "kdd", Ready: true}},
		Pools:     []model.Pool{{Name: "p", CIDR: netip.MustParsePrefix("10.0.0.0/8"), BlockSize: 26, Tunnel: "VXLAN", Mode: "Always"}},
		NodeState: map[string]*model.NodeState{},
	}
	for _, t := range []model.Table{model.Nodes, model.Hosts, model.Pools, model.Blocks, model.Pods, model.PodPhase, model.PodNode, model.PodStatus, model.Cluster} {
		s.Coverage = append(s.Coverage, model.Coverage{Table: t, State: model.Complete})
	}
	at := func(n int) netip.Addr { return netip.AddrFrom4([4]byte{192, 168, byte(n >> 8), byte(n)}) }
	block := func(n, b int) netip.Prefix {
		i := uint32(n*blocks+b) << 6
		return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), 26)
	}
	mac := func(n int) string {
		sum := sha1.Sum([]byte(fmt.Sprintf("n%d", n))) //nolint:gosec // Felix's choice
		return fmt.Sprintf("66:%02x:%02x:%02x:%02x:%02x", sum[0], sum[1], sum[2], sum[3], sum[4])
	}
	for n := range nodes {
		name := fmt.Sprintf("n%d", n)
		s.Nodes = append(s.Nodes, model.Node{Name: name, Ready: true, CalicoIPs: []netip.Addr{at(n)}, Tunnels: []model.Tunnel{{Kind: "vxlan", IP: block(n, 0).Addr()}}})
		f := &model.NodeState{
			Links:    []model.Link{{Index: 2, Name: "eth0", Up: true, MTU: 1500, IPs: []netip.Prefix{netip.PrefixFrom(at(n), 16)}}, {Index: 3, Name: "vxlan.calico", Kind: "vxlan", Up: true}},
			Rules:    []model.Rule{{Table: 255}, {Priority: 32766, Table: 254}},
			Machines: []model.Machine{{Felix: "ready", Uptime: 90000, Settings: map[string]string{"FELIX_BPFENABLED": "false"}}},
		}
		for m := range nodes {
			if m == n {
				continue
			}
			for b := range blocks {
				f.Routes = append(f.Routes, model.Route{Dst: block(m, b), Gateway: block(m, 0).Addr(), Link: 3, Table: 254, Protocol: 80})
			}
			f.Neighbours = append(f.Neighbours, model.Neighbour{IP: block(m, 0).Addr(), MAC: mac(m), Link: 3, State: "PERMANENT", FDB: at(m).String()})
		}
		s.NodeState[name] = f
		for b := range blocks {
			s.Blocks = append(s.Blocks, model.Block{CIDR: block(n, b), Affinity: "host:" + name, Length: 64})
		}
		for _, t := range []model.Table{model.Links, model.Routes, model.Rules, model.Neighbours, model.Machines} {
			s.Coverage = append(s.Coverage, model.Coverage{Table: t, Node: name, State: model.Complete})
		}
	}
	return s
}

// TestMesh: every way leads to its node, and one that does not is found among all.
func TestMesh(t *testing.T) {
	t.Parallel()
	s := mesh(60, 3)
	if got := detect.Run(model.Seal(s), detect.PL3007); len(got.Findings) != 0 || got.Judged["PL3007"] != 60 {
		t.Fatalf("%d findings of %d nodes: %v", len(got.Findings), got.Judged["PL3007"], got.Findings)
	}
	s = mesh(60, 3)
	s.NodeState["n7"].Neighbours[20].FDB = model.NoFDB
	if got := detect.Run(model.Seal(s), detect.PL3007); len(got.Findings) != 1 || got.Findings[0].Node != "n7" {
		t.Errorf("%v", got.Findings)
	}
}

// 400 nodes with 2,400 blocks: those of 150,000 pods.
func BenchmarkBetweenNodes(b *testing.B) {
	v := model.Seal(mesh(400, 6))
	b.ResetTimer()
	for b.Loop() {
		if got := detect.Run(v, detect.PL3007); len(got.Findings) != 0 {
			b.Fatal(got.Findings[0])
		}
	}
}
