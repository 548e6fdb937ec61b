package detect_test

import (
	"crypto/sha1" //nolint:gosec // Felix's choice
	"fmt"
	"net/netip"
	"slices"
	"testing"

	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/model"
)

// mesh is a healthy cluster in which every node has a way to every block of the others.
func mesh(nodes, blocks int) *model.Snapshot {
	return meshOf(nodes, blocks, func(string, *model.NodeState) {})
}

// meshOf is mesh, with what done makes of each node's state.
func meshOf(nodes, blocks int, done func(string, *model.NodeState)) *model.Snapshot {
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
		done(name, f)
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

// What leads a part of a block elsewhere is found, as rows and as sums.
func TestParts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(f *model.NodeState, pod netip.Prefix)
		found bool
	}{
		"nothing": {func(*model.NodeState, netip.Prefix) {}, false},
		"a route by the uplink": {func(f *model.NodeState, pod netip.Prefix) {
			f.Routes = append(f.Routes, model.Route{Dst: pod, Link: 2, Table: 254})
		}, true},
		"by another next hop": {func(f *model.NodeState, pod netip.Prefix) {
			f.Routes = append(f.Routes, model.Route{Dst: pod, Gateway: f.Routes[3].Gateway, Link: 3, Table: 254})
		}, true},
		"to a pod's interface": {func(f *model.NodeState, pod netip.Prefix) {
			f.Links = append(f.Links, model.Link{Index: 9, Name: "cali1", Kind: "veth", Up: true, MTU: 1450})
			f.Routes = append(f.Routes, model.Route{Dst: pod, Link: 9, Table: 254, Scope: "link"})
		}, false},
		"by the right next hop": {func(f *model.NodeState, pod netip.Prefix) {
			f.Routes = append(f.Routes, model.Route{Dst: pod, Gateway: f.Routes[0].Gateway, Link: 3, Table: 254})
		}, false},
		"a rule to another table": {func(f *model.NodeState, pod netip.Prefix) {
			f.Rules = append(f.Rules, model.Rule{Priority: 100, Table: 99, Dst: pod})
			f.Routes = append(f.Routes, model.Route{Dst: netip.MustParsePrefix("0.0.0.0/0"), Gateway: netip.MustParseAddr("192.168.0.1"), Link: 2, Table: 99})
		}, true},
		"a rule for nobody's address": {func(f *model.NodeState, _ netip.Prefix) {
			f.Rules = append(f.Rules, model.Rule{Priority: 100, Table: 99, Dst: netip.MustParsePrefix("10.0.0.77/32")})
			f.Routes = append(f.Routes, model.Route{Dst: netip.MustParsePrefix("0.0.0.0/0"), Gateway: netip.MustParseAddr("192.168.0.1"), Link: 2, Table: 99})
		}, false},
	} {
		for _, sums := range []bool{false, true} {
			var whole model.NodeState
			s := meshOf(5, 1, func(node string, f *model.NodeState) {
				if node == "n0" {
					c.spoil(f, netip.MustParsePrefix("10.0.0.69/32"))
					whole = *f
				}
				if sums {
					f.SumWays(nil)
				}
			})
			s.Blocks[1].Held, s.Blocks[1].Attributes = []model.Slot{{5, 0}}, []model.Attribute{{Namespace: "a", Pod: "b", Node: "n1"}}
			if sums {
				if open := detect.OpenWays(model.Seal(s)); len(open["n0"]) > 0 {
					again := whole
					again.SumWays(open["n0"])
					s.NodeState["n0"] = &again
				}
			}
			got := detect.Run(model.Seal(s), detect.PL3007)
			if (len(got.Findings) == 1) != c.found || len(got.Skipped) != 0 {
				t.Errorf("%s, sums %t: %v %v", name, sums, got.Findings, got.Skipped)
			}
		}
	}
}

// summed tells only the sums of ways.
func summed(_ string, f *model.NodeState) { f.SumWays(nil) }

// TestSummed: equal sums need no rows, and where one way differs, its bucket is asked for and shows it.
func TestSummed(t *testing.T) {
	t.Parallel()
	s := meshOf(60, 3, summed)
	if got := detect.OpenWays(model.Seal(s)); len(got) != 0 || len(s.NodeState["n7"].Routes)+len(s.NodeState["n7"].Neighbours) != 0 {
		t.Fatalf("asks for %v, %d routes", got, len(s.NodeState["n7"].Routes))
	}
	if got := detect.Run(model.Seal(s), detect.PL3007); len(got.Findings) != 0 || len(got.Skipped) != 0 {
		t.Fatalf("%v %v", got.Findings, got.Skipped)
	}
	whole := map[string]*model.NodeState{}
	for name, spoil := range map[string]func(*model.NodeState){
		"no entry in the forwarding database": func(f *model.NodeState) { f.Neighbours[20].FDB = model.NoFDB },
		"no neighbour":                        func(f *model.NodeState) { f.Neighbours = slices.Delete(f.Neighbours, 20, 21) },
		"another MAC":                         func(f *model.NodeState) { f.Neighbours[20].MAC = "66:00:00:00:00:01" },
		"no route":                            func(f *model.NodeState) { f.Routes = slices.Delete(f.Routes, 20, 21) },
		"another next hop":                    func(f *model.NodeState) { f.Routes[20].Gateway = f.Routes[40].Gateway },
		"by the uplink":                       func(f *model.NodeState) { f.Routes[20].Link = 2 },
		"a blackhole":                         func(f *model.NodeState) { f.Routes[20].Type = "blackhole" },
		"the tunnel is down":                  func(f *model.NodeState) { f.Links[1].Up = false },
		"a rule": func(f *model.NodeState) {
			f.Rules = append(f.Rules, model.Rule{Priority: 9, Dst: f.Routes[20].Dst, Type: "prohibit"})
		},
	} {
		s := meshOf(60, 3, func(node string, f *model.NodeState) {
			if node == "n7" {
				spoil(f)
				copied := *f
				whole[name] = &copied
			}
			f.SumWays(nil)
		})
		open := detect.OpenWays(model.Seal(s))
		if all := name == "the tunnel is down" || name == "a rule"; len(open) != 1 || len(open["n7"]) == 0 || (len(open["n7"]) == model.WayBuckets) != all || !all && len(open["n7"]) > 2 {
			t.Errorf("%s: asks for %v", name, open)
		}
		if got := detect.Run(model.Seal(s), detect.PL3007); len(got.Skipped) == 0 {
			t.Errorf("%s: not said before it is read", name)
		}
		again := *whole[name]
		again.SumWays(open["n7"])
		s.NodeState["n7"] = &again
		got := detect.Run(model.Seal(s), detect.PL3007)
		if len(got.Findings) != 1 || got.Findings[0].Node != "n7" || len(got.Skipped) != 0 {
			t.Errorf("%s: %v %v", name, got.Findings, got.Skipped)
		}
	}
}

// TestSummedAcross: in one subnet routes are direct, to other subnets they take the tunnel; a node with
// addresses of both families has a subnet of each.
func TestSummedAcross(t *testing.T) {
	t.Parallel()
	half := func(ip netip.Addr) bool { return ip.As4()[3] < 20 }
	s := meshOf(40, 2, func(_ string, f *model.NodeState) {
		own := f.Links[0].IPs[0].Addr()
		f.Links[0].IPs = []netip.Prefix{netip.PrefixFrom(own, 32)}
		if half(own) {
			f.Links[0].IPs = []netip.Prefix{netip.PrefixFrom(own, 28)}
		}
		f.Links[0].IPs = append(f.Links[0].IPs, netip.MustParsePrefix("2001:db8::1/64"))
		near := f.Links[0].IPs[0].Masked()
		for i := range f.Neighbours {
			to, tunnel := netip.MustParseAddr(f.Neighbours[i].FDB), f.Neighbours[i].IP
			for r := range f.Routes {
				if f.Routes[r].Gateway == tunnel && near.Contains(to) {
					f.Routes[r].Gateway, f.Routes[r].Link = to, 2
				}
			}
		}
		f.SumWays(nil)
	})
	s.Pools[0].Mode = "CrossSubnet"
	for i := range s.Nodes {
		s.Nodes[i].CalicoIPs = append(s.Nodes[i].CalicoIPs, netip.MustParseAddr("2001:db8::1"))
	}
	if open := detect.OpenWays(model.Seal(s)); len(open) != 0 {
		t.Errorf("asks for %d nodes, %v", len(open), open["n1"])
	}
}

// TestSummedIPIP: routes of IPIP as Felix makes them, with those to tunnel addresses, and as BIRD does.
func TestSummedIPIP(t *testing.T) {
	t.Parallel()
	for _, felix := range []bool{true, false} {
		tunnels := map[netip.Addr]netip.Addr{} // by the node's address
		s := meshOf(40, 2, func(_ string, f *model.NodeState) {
			f.Links[1] = model.Link{Index: 3, Name: "tunl0", Kind: "ipip", Up: true, MTU: 1480}
			for i := range f.Neighbours { // as many as other nodes
				to, tunnel := netip.MustParseAddr(f.Neighbours[i].FDB), f.Neighbours[i].IP
				tunnels[to] = tunnel
				for r := range f.Routes {
					if f.Routes[r].Gateway == tunnel {
						f.Routes[r].Gateway = to
					}
				}
				if felix {
					f.Routes = append(f.Routes, model.Route{Dst: netip.PrefixFrom(tunnel, 32), Gateway: to, Link: 3, Table: 254, Protocol: 80})
				}
			}
			f.Neighbours = nil
			f.SumWays(nil)
		})
		s.Pools[0].Tunnel = "IPIP"
		for i := range s.Nodes {
			s.Nodes[i].Tunnels = []model.Tunnel{{Kind: "ipip", IP: tunnels[s.Nodes[i].CalicoIPs[0]]}}
		}
		if open := detect.OpenWays(model.Seal(s)); len(open) != 0 {
			t.Errorf("by Felix %t: asks for %d nodes, %v", felix, len(open), open["n1"])
		}
	}
}

// 5,000 nodes with 5,000 blocks: 25 million ways, of which agents tell the sums. All nodes are in one
// subnet, or each has one of its own.
func BenchmarkBetweenSummed(b *testing.B) {
	for _, bits := range []int{16, 32} {
		b.Run(fmt.Sprintf("subnets of %d bits", bits), func(b *testing.B) {
			v := model.Seal(meshOf(5000, 1, func(_ string, f *model.NodeState) {
				f.Links[0].IPs[0] = netip.PrefixFrom(f.Links[0].IPs[0].Addr(), bits)
				f.SumWays(nil)
			}))
			b.ResetTimer()
			for b.Loop() {
				if open := detect.OpenWays(v); len(open) != 0 {
					b.Fatal(len(open))
				}
				if got := detect.Run(v, detect.PL3007); len(got.Findings) != 0 {
					b.Fatal(got.Findings[0])
				}
			}
		})
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
