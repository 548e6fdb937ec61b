package planner_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair/planner"
	"plumbline.dev/plumbline/internal/repair/proven"
)

const leakedID = "283bb9deef02e6843abfb538efa1eca70801bd8a701c3f98191e123496339247" // holds 10.0.0.2 for shop/gone

// v6Sibling has the handle of 10.0.0.2 hold an address of a second block, of n2.
func v6Sibling(s *model.Snapshot) {
	cidr := netip.MustParsePrefix("fd00::/125")
	s.Pools = append(s.Pools, model.Pool{Name: "six", CIDR: netip.MustParsePrefix("fd00::/64"), BlockSize: 125})
	s.Blocks = append(s.Blocks, model.Block{
		Name: model.BlockName(cidr), CIDR: cidr, Affinity: "host:n2", Length: 8, Held: []model.Slot{{2, 0}}, Free: []int32{0, 1, 3, 4, 5, 6, 7},
		Attributes: []model.Attribute{{Handle: "k8s-pod-network." + leakedID, Namespace: "shop", Pod: "gone", Node: "n1"}}, Sequence: 9,
	})
	s.Affinities = append(s.Affinities, model.Affinity{Name: "six", Node: "n2", Type: "host", CIDR: cidr, State: "confirmed", Labelled: true})
	for i := range s.Handles {
		if strings.HasSuffix(s.Handles[i].ID, leakedID) {
			s.Handles[i].Blocks = append(s.Handles[i].Blocks, model.BlockCount{CIDR: cidr, Count: 1})
		}
	}
}

func dropHandle(s *model.Snapshot, id string) {
	s.Handles = slices.DeleteFunc(s.Handles, func(h model.Handle) bool { return strings.HasSuffix(h.ID, id) })
}

// TestCases are plans for what differs from a fixture in one thing.
func TestCases(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		from   string
		change func(s *model.Snapshot, g *given)
		want   []string
		not    []string
	}{
		"both addresses of a handle are released with one proof": {
			"PL1001", func(s *model.Snapshot, _ *given) { v6Sibling(s) },
			[]string{
				"PL1001/10.0.0.2 safe\n  dead: [10.0.0.2 fd00::2] by [n1 n2], containers [283bb9de], shop/gone not with [10.0.0.2 fd00::2]",
				"PL1001/fd00::2 safe\n  dead: [10.0.0.2 fd00::2] by [n1 n2]",
				"release block fd00::/125 for PL1001/fd00::2\n",
				"recount handle k8s-pod-network.283bb9de for PL1001/10.0.0.2 PL1001/fd00::2, always\n  in [10.0.0.0/29 fd00::/125] raise [] unchanged \"7\"",
			},
			nil,
		},
		"an address without a finding is released with its handle": {
			"PL1001", func(s *model.Snapshot, g *given) { v6Sibling(s); g.Unconfirmed = []string{"-PL1001/fd00::2"} },
			[]string{"release block fd00::/125 for PL1001/10.0.0.2\n  fd00::2 k8s-pod-network.283bb9de/0 -> free"},
			[]string{"PL1001/fd00::2"},
		},
		"one address of a handle is in use: none is released": {
			"PL1001", func(s *model.Snapshot, g *given) {
				v6Sibling(s)
				s.Pods[0].IPs = append(s.Pods[0].IPs, netip.MustParseAddr("fd00::2"))
				g.Unconfirmed = []string{"+PL1001/10.0.0.2"}
			},
			[]string{"refused PL1001/10.0.0.2: fd00::2 of the same handle is in use"},
			[]string{"10.0.0.2 k8s-pod-network.283bb9de"},
		},
		"one address of a handle is unconfirmed: none is released": {
			"PL1001", func(s *model.Snapshot, g *given) { v6Sibling(s); g.Unconfirmed = []string{"PL1001/fd00::2"} },
			[]string{"refused PL1001/10.0.0.2: fd00::2 of the same handle is unconfirmed"},
			[]string{"10.0.0.2 k8s-pod-network.283bb9de", "fd00::2 k8s"},
		},
		"some node uses another node's name: all nodes must verify": {
			"PL1001", func(_ *model.Snapshot, g *given) { g.Rename = map[string]string{"n2": "n1"} },
			[]string{"dead: [10.0.0.2] by [n1] and all"},
			nil,
		},
		"the node in the record does not exist": {
			"PL1001", func(s *model.Snapshot, _ *given) { s.Blocks[0].Attributes[2].Node = "n7" },
			[]string{"refused PL1001/10.0.0.2: node n7 has no Node object"},
			[]string{"10.0.0.2 k8s"},
		},
		"--node-gone: all other nodes must verify": {
			"PL1001", func(s *model.Snapshot, g *given) { s.Blocks[0].Attributes[2].Node = "n7"; g.NodeGone = []string{"n7"} },
			[]string{"dead: [10.0.0.2] by [n1] and all, containers [283bb9de], shop/gone not with [10.0.0.2], no node n7"},
			nil,
		},
		"out of service: the other nodes must verify": {
			"PL1001", func(s *model.Snapshot, g *given) {
				outOfService(s, "NoExecute")
				g.Silent = []string{"n2"}
			},
			[]string{"PL1001/10.0.0.10 safe\n  dead: [10.0.0.10] by [n1], containers [baa4b433]"},
			nil,
		},
		"out of service, with an effect that Kubernetes ignores": {
			"PL1001", func(s *model.Snapshot, g *given) {
				outOfService(s, "PreferNoSchedule")
				g.Silent = []string{"n2"}
			},
			[]string{"refused PL1001/10.0.0.10: live verification by the agent on n2 is not possible"},
			nil,
		},
		"out of service, but it has been silent for less than minutes": {
			"PL1001", func(s *model.Snapshot, g *given) {
				outOfService(s, "NoExecute")
				s.Nodes[1].Changed = s.Meta.Taken.Add(-4 * time.Minute)
				g.Silent = []string{"n2"}
			},
			[]string{"refused PL1001/10.0.0.10: live verification by the agent on n2 is not possible"},
			nil,
		},
		"out of service, but it is Ready: its agent is what does not answer": {
			"PL1001", func(s *model.Snapshot, g *given) {
				outOfService(s, "NoExecute")
				s.Nodes[1].Ready, s.Nodes[1].Silent = true, false
				g.Silent = []string{"n2"}
			},
			[]string{"refused PL1001/10.0.0.10: live verification by the agent on n2 is not possible", "check the agent's pod there"},
			nil,
		},
		"out of service, but its kubelet reports that it is not ready": {
			"PL1001", func(s *model.Snapshot, g *given) {
				outOfService(s, "NoExecute")
				s.Nodes[1].Silent = false
				g.Silent = []string{"n2"}
			},
			[]string{"refused PL1001/10.0.0.10: live verification by the agent on n2 is not possible"},
			nil,
		},
		"a finished pod on another node still has it in its status: that node must verify too": {
			"PL1001", func(s *model.Snapshot, _ *given) {
				s.Pods = append(s.Pods, model.Pod{Namespace: "shop", Name: "done", Node: "n2", Phase: model.Succeeded, IPs: []netip.Addr{netip.MustParseAddr("10.0.0.2")}})
			},
			[]string{"dead: [10.0.0.2] by [n1 n2], containers [283bb9de]"},
			nil,
		},
		"a missing handle of a released address is created, and removed with it": {
			"PL1001", func(s *model.Snapshot, g *given) { dropHandle(s, leakedID); g.Only = append(g.Only, "PL1006") },
			[]string{"create handle k8s-pod-network.283bb9de for PL1006/k8s-pod-network.283bb9de", "recount handle k8s-pod-network.283bb9de for PL1001/10.0.0.2, always"},
			nil,
		},
		"handles that differ by case are not freed": {
			"PL1001", func(s *model.Snapshot, _ *given) {
				at := s.Blocks[0].Attributes[2]
				at.Handle = strings.ToUpper(at.Handle)
				s.Blocks[0].Attributes = append(s.Blocks[0].Attributes, at)
				s.Blocks[0].Held = append(s.Blocks[0].Held, model.Slot{6, int32(len(s.Blocks[0].Attributes) - 1)})
				s.Blocks[0].Free = slices.DeleteFunc(s.Blocks[0].Free, func(n int32) bool { return n == 6 })
			},
			[]string{"refused PL1001/10.0.0.2: handle K8S-POD-NETWORK.283BB9DE"},
			[]string{"10.0.0.2 k8s"},
		},
		"an endpoint still has it": {
			"PL1001", func(s *model.Snapshot, _ *given) { strayEndpoint(s) },
			[]string{"refused PL1001/10.0.0.2: endpoint shop/gone still has 10.0.0.2"},
			[]string{"10.0.0.2 k8s"},
		},
		"an endpoint goes before its address does": {
			"PL1001", func(s *model.Snapshot, g *given) { strayEndpoint(s); g.Only = append(g.Only, "PL2002") },
			[]string{
				"1 delete endpoint shop/gone for PL2002/shop/gone\n2 release block 10.0.0.0/29 for PL1001/10.0.0.2",
			},
			nil,
		},
		"an endpoint that stays keeps its address": {
			"PL1001", func(s *model.Snapshot, g *given) {
				strayEndpoint(s)
				s.Endpoints[0].ContainerID = "" // no node can verify it
				g.Only = append(g.Only, "PL2002")
			},
			[]string{"refused PL1001/10.0.0.2: endpoint shop/gone still has 10.0.0.2", "refused PL2002/shop/gone"},
			[]string{"10.0.0.2 k8s"},
		},
		"a version that is not tested": {
			"PL1001", func(s *model.Snapshot, _ *given) { s.Info[0].Calico = "v3.28.2" },
			[]string{"refused PL1001/10.0.0.2: Calico is v3.28.2 (repair is tested with Calico v3.31.0"},
			[]string{"1 release"},
		},
		"another patch of a tested version": {
			"PL1001", func(s *model.Snapshot, g *given) {
				s.Info[0].Calico = "v3.31.9"
				g.Schemas = proven.Schemas{Lines: proven.Tested("v3.31.0")}
			}, []string{"1 release"}, nil,
		},
		"another patch with other schemas": {
			"PL1001", func(s *model.Snapshot, g *given) {
				s.Info[0].Calico = "v3.31.9"
				g.Schemas = proven.Schemas{Lines: map[string][]string{"blockaffinities": {"blockaffinities.spec.claimed. type=\"string\""}}}
			},
			[]string{"refused PL1001/10.0.0.2: Calico is v3.31.9, not the tested v3.31.0, and blockaffinities.spec.claimed is new or has changed"},
			[]string{"1 release"},
		},
		"a version that the user accepts": {
			"PL1001", func(s *model.Snapshot, g *given) {
				s.Info[0].Calico, g.AcceptVersion = "v3.28.2", "tried on staging"
			}, []string{"1 release"}, nil,
		},
		"accepted, and a node has the plugin of another version": {
			"PL1001", func(s *model.Snapshot, g *given) {
				s.Info[0].Calico, g.AcceptVersion = "v3.28.2", "tried on staging"
				g.Plugin = "v3.31.0"
			},
			[]string{"refused PL1001/10.0.0.2: the CNI plugin on n1 is v3.31.0, and ClusterInformation has v3.28.2"},
			[]string{"1 release"},
		},
		"a part of Calico that is scaled to zero": {
			"PL1001", func(s *model.Snapshot, _ *given) {
				s.Components = []model.Component{{Name: "old-controllers", Version: "v3.24.1"}}
			}, []string{"1 release"}, nil,
		},
		"a part of Calico of another version": {
			"PL1001", func(s *model.Snapshot, _ *given) {
				s.Components = []model.Component{{Name: "calico-node", Version: "v3.29.1", Wanted: 3}}
			},
			[]string{"refused PL1001/10.0.0.2: calico-node is v3.29.1"},
			[]string{"1 release"},
		},
		"a locked datastore": {
			"PL1001", func(s *model.Snapshot, _ *given) { s.Info[0].Ready = false },
			[]string{"refused PL1001/10.0.0.2: the Calico datastore is locked"},
			[]string{"1 release"},
		},
		"mass change, and the user allows it": {
			"gate-mass", func(_ *model.Snapshot, g *given) { g.AllowMassChange = true }, []string{"10.0.0.2 k8s-pod-network.283bb9de/1800000000000000003 -> free"}, nil,
		},
		"an affinity without a block is not changed for a day": {
			"PL1007", func(s *model.Snapshot, _ *given) {
				for i := range s.Affinities {
					s.Affinities[i].Written = taken() - 3600
				}
			},
			[]string{"refused PL1007/n1/10.0.0.72/29: the next pod that starts on n1 normally creates the block"},
			[]string{"remove affinity n1/10.0.0.72/29"},
		},
		"a node that is gone, and its block holds addresses": {
			"PL1007", func(s *model.Snapshot, _ *given) {
				for i := range s.Affinities {
					if s.Affinities[i].CIDR == s.Blocks[0].CIDR && s.Affinities[i].Node == "n1" {
						s.Affinities[i].Node = "n9"
					}
				}
				s.Blocks[0].Affinity = "host:n9"
			},
			[]string{"refused PL1007/n9/10.0.0.0/29: its block still holds addresses"},
			[]string{"remove affinity n9/10.0.0.0/29"},
		},
		"a block without affinity, and a confirmed affinity": {
			"PL1007", func(s *model.Snapshot, _ *given) { s.Blocks[2].Affinity = ""; s.Blocks[3].Affinity = "" },
			[]string{"refused PL1007/n1/10.0.0.88/29: the block has affinity none"},
			[]string{"confirm affinity n1/10.0.0.88/29", "remove affinity n1/10.0.0.88/29"},
		},
		"labels": {
			"PL1007", func(s *model.Snapshot, g *given) { s.Affinities[1].Labelled = false; g.Only = []finding.Code{"PL5004"} },
			[]string{"PL5004/n2/10.0.0.8/29 safe\n1 label affinity n2/10.0.0.8/29 for PL5004/n2/10.0.0.8/29\n  \"confirmed\" -> labelled with 3 labels"},
			nil,
		},
		"calico-node is restarted for a tunnel address that a pod has": {
			"PL1008", func(s *model.Snapshot, _ *given) {
				s.Pods = append(s.Pods, model.Pod{Namespace: "kube-system", Name: "calico-node-x", UID: "u4", Node: "n4", Phase: model.Running, HostNetwork: true, Owner: "DaemonSet/calico-node"})
			},
			[]string{"PL1008/10.0.0.3 disruptive\n  warns: traffic between n4 and all other nodes", "restart pod kube-system/calico-node-x for PL1008/10.0.0.3\n  u4"},
			[]string{"10.0.0.3 k8s"},
		},
		"computed tunnel addresses": {
			"PL1008", func(s *model.Snapshot, _ *given) {
				s.Components = []model.Component{{Name: "calico-node", Version: "v3.31.0", Settings: map[string]string{"USE_POD_CIDR": "true"}}}
			},
			[]string{"refused PL1008/10.0.0.2: tunnel addresses are computed"},
			[]string{"record block"},
		},
		"an ordinal that points nowhere gets the pod that has it": {
			"PL1004", func(s *model.Snapshot, _ *given) { s.Blocks[0].Held[1][1] = 9 },
			[]string{
				"10.0.0.1 -> k8s-pod-network.97375646 namespace=shop pod=web node=n1",
				"count handle k8s-pod-network.97375646 for PL1004/10.0.0.0/29\n  in [] raise [{10.0.0.0/29 [10.0.0.1]}]",
			},
			[]string{"10.0.0.5 ->"},
		},
		"an ordinal that points nowhere gets the tunnel that has it": {
			"PL1004", func(s *model.Snapshot, _ *given) { s.Blocks[0].Held[0][1] = 9 },
			[]string{"10.0.0.0 -> vxlan-tunnel-addr-n1 node=n1 type=vxlanTunnelAddress"},
			nil,
		},
		"a tunnel's handle is removed with its node, with --node-gone": {
			"PL1006", func(s *model.Snapshot, g *given) {
				s.Handles = append(s.Handles, model.Handle{ID: "vxlan-tunnel-addr-n9", Name: "vxlan-tunnel-addr-n9", Revision: "8"})
				g.NodeGone = []string{"n9"}
			},
			[]string{"remove handle vxlan-tunnel-addr-n9"},
			nil,
		},
		"a tunnel's handle stays while its node may come back": {
			"PL1006", func(s *model.Snapshot, _ *given) {
				s.Handles = append(s.Handles, model.Handle{ID: "vxlan-tunnel-addr-n9", Name: "vxlan-tunnel-addr-n9", Revision: "8"})
			},
			[]string{"refused PL1006/vxlan-tunnel-addr-n9: its owner may reuse this handle"},
			[]string{"remove handle vxlan"},
		},
		"an object with a name that Calico does not look up": {
			"PL1006", func(s *model.Snapshot, _ *given) { s.Handles[2].Name = "strange" },
			[]string{"refused PL1006/k8s-pod-network.97375646: the handle object has a name"},
			[]string{"lower handle"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fixture, g := load(t, "testdata/plan-"+c.from+".txtar")
			c.change(fixture.Snapshot, &g)
			v, fs := judged(fixture.Snapshot, g)
			p := planner.Make(v, fs, options(g))
			if err := p.Valid(); err != nil && len(p.Steps) > 0 {
				t.Error(err)
			}
			got := text(p)
			for _, w := range c.want {
				if !strings.Contains(got, w) {
					t.Errorf("not there: %s\n%s", w, got)
				}
			}
			for _, n := range c.not {
				if strings.Contains(got, n) {
					t.Errorf("there: %s\n%s", n, got)
				}
			}
		})
	}
}

func strayEndpoint(s *model.Snapshot) {
	s.Info[0].Datastore = "etcd"
	s.Hosts = []model.Host{{Name: "n1", Kubernetes: "n1"}, {Name: "n2", Kubernetes: "n2"}}
	s.Endpoints = []model.Endpoint{{Namespace: "shop", Name: "gone", Node: "n1", Orchestrator: "k8s", Pod: "gone", ContainerID: leakedID, IPs: []netip.Addr{netip.MustParseAddr("10.0.0.2")}}}
}

// outOfService declares n2 down: it has been silent for ten minutes.
func outOfService(s *model.Snapshot, effect string) {
	n := &s.Nodes[1]
	n.Ready, n.Silent, n.Changed = false, true, s.Meta.Taken.Add(-10*time.Minute)
	n.Taints = []string{model.OutOfServiceTaint + ":" + effect}
}
