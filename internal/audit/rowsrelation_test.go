package audit_test

import (
	"net/netip"
	"slices"
	"testing"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// A relation is a state of base, and one change of it that concerns what is far from it.
type relation struct {
	before func(s *model.Snapshot)
	change func(s *model.Snapshot) observe.Change
	wants  string // what stands afterwards, or "-" and what no longer does
	first  func(s *model.Snapshot) observe.Change
}

func changePod(s *model.Snapshot, i int, f func(*model.Pod)) observe.Change {
	f(&s.Pods[i])
	row := s.Pods[i]
	return observe.Change{Ref: row.Ref(), Row: &row}
}

func changeBlock(s *model.Snapshot, f func(*model.Block)) observe.Change {
	f(&s.Blocks[0])
	row := s.Blocks[0]
	return observe.Change{Ref: row.Ref(), Row: &row}
}

var ip1, ip2 = netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2")

// asEtcd keeps the endpoint apart from the pod.
func asEtcd(s *model.Snapshot) {
	p := &s.Pods[0]
	s.Info[0].Datastore = "etcd"
	s.Endpoints = []model.Endpoint{{Namespace: "shop", Name: "n1-k8s-web", Node: "n1", Orchestrator: "k8s", Pod: "web", ContainerID: p.ContainerID, IPs: []netip.Addr{ip1}, Interface: "eth0"}}
	p.Annotation, p.Annotated, p.ContainerID = model.Absent, nil, ""
}

// living puts a sandbox with 10.0.0.2 on n1, of shop/db; the ledger
// does not have it.
func living() func(*model.Snapshot) {
	return func(s *model.Snapshot) {
		f := factsOf("n1", netip.MustParseAddr("10.9.0.1"))
		p := model.Pod{Namespace: "shop", Name: "db", UID: "u2", Node: "n1", IPs: []netip.Addr{ip2}}
		seat(f, &p, 1, false)
		s.NodeState = map[string]*model.NodeState{"n1": f}
		for _, t := range model.FactTables() {
			s.Coverage = append(s.Coverage, model.Coverage{Table: t, Node: "n1", State: model.Complete})
		}
		s.Pods[0].NoIPAM = true // it has no place there, and is of no concern
	}
}

func both(fs ...func(*model.Snapshot)) func(*model.Snapshot) {
	return func(s *model.Snapshot) {
		for _, f := range fs {
			f(s)
		}
	}
}

var relations = map[string]relation{
	"one of two nodes leaves a tunnel's address that both had": {
		func(s *model.Snapshot) {
			asEtcd(s)
			s.Nodes = append(s.Nodes, model.Node{Name: "n2", Ready: true})
			s.Hosts = []model.Host{{Name: "n1", Tunnels: []model.Tunnel{{Kind: "vxlan", IP: ip2}}}, {Name: "n2", Tunnels: []model.Tunnel{{Kind: "vxlan", IP: ip2}}}}
		},
		func(s *model.Snapshot) observe.Change {
			s.Hosts[0].Tunnels = nil
			h := s.Hosts[0]
			return observe.Change{Ref: h.Ref(), Row: &h}
		}, "PL1008/10.0.0.2", nil,
	},
	"the ledger names a node for a tunnel whose name Calico has for another": {
		func(s *model.Snapshot) {
			asEtcd(s)
			s.Nodes[0].Tunnels = []model.Tunnel{{Kind: "vxlan", IP: ip2}}
			s.Nodes = append(s.Nodes, model.Node{Name: "n2", Ready: true})
			s.Hosts = []model.Host{{Name: "n1", Tunnels: s.Nodes[0].Tunnels}, {Name: "n2", Kubernetes: "n1"}}
			b := &s.Blocks[0]
			b.Attributes = append(b.Attributes, model.Attribute{Handle: "vxlan-tunnel-addr-n1", Node: "n2", Type: "vxlanTunnelAddress"})
			b.Held, b.Free = append(b.Held, model.Slot{2, 1}), []int32{0, 3}
		},
		func(s *model.Snapshot) observe.Change {
			return changeBlock(s, func(b *model.Block) { b.Revision = "2" })
		}, "PL1008/10.0.0.2", nil,
	},
	"a pod whose annotation is of another sandbox is only written": {
		func(s *model.Snapshot) { s.Pods[0].ContainerID = containerOf("older") },
		func(s *model.Snapshot) observe.Change {
			return changePod(s, 0, func(p *model.Pod) { p.Revision = "7" })
		}, "PL2003/shop/web", nil,
	},
	"one of two blocks on which the collector crashes is mended": {
		func(s *model.Snapshot) {
			c := netip.MustParsePrefix("10.0.0.4/30")
			s.Blocks = append(s.Blocks, model.Block{Name: model.BlockName(c), CIDR: c, Length: 4, Held: []model.Slot{{0, 5}}, Free: []int32{1, 2, 3}})
			s.Blocks[0].Held = []model.Slot{{1, 7}}
		},
		func(s *model.Snapshot) observe.Change {
			return changeBlock(s, func(b *model.Block) { b.Held = []model.Slot{{1, 0}} })
		}, "PL5002/kube-controllers/crashes", nil,
	},
	"a block of another cluster's node is written": {
		func(s *model.Snapshot) {
			asEtcd(s)
			s.Hosts, s.Affinities, s.Blocks[0].Affinity = []model.Host{{Name: "n1"}, {Name: "other"}}, nil, "host:other"
		},
		func(s *model.Snapshot) observe.Change {
			return changeBlock(s, func(b *model.Block) { b.Revision = "2" })
		}, "-PL1007/10.0.0.0/30", nil,
	},
	"a pod finishes whose handle also holds what another claims": {
		func(s *model.Snapshot) {
			b := &s.Blocks[0]
			b.Attributes[0].Pod = "gone"
			b.Attributes = append(b.Attributes, b.Attributes[0])
			b.Attributes[1].Pod = "job"
			b.Held, b.Free = append(b.Held, model.Slot{2, 1}), []int32{0, 3}
			s.Pods[0].Ready, s.Pods[0].Annotation, s.Pods[0].Annotated = false, model.Absent, nil
			s.Pods = append(s.Pods, model.Pod{Namespace: "shop", Name: "job", Node: "n1", Phase: model.Running})
		},
		func(s *model.Snapshot) observe.Change {
			return changePod(s, 1, func(p *model.Pod) { p.Phase = model.Succeeded })
		}, "-PL1001/10.0.0.2", nil,
	},
	"an address is given back in which a pod lives that asked for it past IPAM": {
		both(living(), func(s *model.Snapshot) {
			s.Pods = append(s.Pods, model.Pod{Namespace: "shop", Name: "alias", UID: "u2", Node: "n1", Phase: model.Running, NoIPAM: true})
			b := &s.Blocks[0]
			b.Held, b.Free = append(b.Held, model.Slot{2, 0}), []int32{0, 3}
		}),
		func(s *model.Snapshot) observe.Change {
			return changeBlock(s, func(b *model.Block) { b.Held, b.Free = slices.Clone(b.Held[:1]), []int32{0, 2, 3} })
		}, "-PL1002/10.0.0.2", nil,
	},
	"a node is silent that Calico calls otherwise": {
		func(s *model.Snapshot) {
			asEtcd(s)
			s.Hosts = []model.Host{{Name: "x", Kubernetes: "n1"}}
			s.Blocks[0].Attributes[0].Node, s.Pods, s.Endpoints = "x", nil, nil
		},
		func(s *model.Snapshot) observe.Change {
			s.Nodes[0].Ready = false
			n := s.Nodes[0]
			return observe.Change{Ref: n.Ref(), Row: &n}
		}, "PL1001/10.0.0.1", nil,
	},
	"a pod is ready, and so has the address that it shows": {
		func(s *model.Snapshot) {
			free(s)
			s.Pods[0].Ready, s.Pods[0].Annotation, s.Pods[0].Annotated, s.Pods[0].ContainerID = false, model.Absent, nil, ""
		},
		func(s *model.Snapshot) observe.Change { return changePod(s, 0, func(p *model.Pod) { p.Ready = true }) }, "PL1002/10.0.0.1", nil,
	},
	"the pod of a wrong endpoint is only written": {
		func(s *model.Snapshot) { asEtcd(s); s.Pods[0].Node = "n2" },
		func(s *model.Snapshot) observe.Change {
			return changePod(s, 0, func(p *model.Pod) { p.Revision = "7" })
		}, "PL2002/shop/n1-k8s-web", nil,
	},
	"a handle comes that had two attributes of one block, and has one": {
		func(s *model.Snapshot) {
			b := &s.Blocks[0]
			b.Attributes = append(b.Attributes, b.Attributes[0])
			b.Attributes[1].Node = "n2"
			b.Held, b.Free, s.Handles = append(b.Held, model.Slot{2, 1}), []int32{0, 3}, nil
		},
		func(s *model.Snapshot) observe.Change {
			h := model.Handle{ID: s.Blocks[0].Attributes[0].Handle, Name: s.Blocks[0].Attributes[0].Handle}
			s.Handles = []model.Handle{h}
			return observe.Change{Ref: h.Ref(), Row: &h}
		}, "PL1006/" + network + "." + containerOf("web"),
		func(s *model.Snapshot) observe.Change {
			return changeBlock(s, func(b *model.Block) {
				b.Attributes, b.Held, b.Free = slices.Clone(b.Attributes[:1]), slices.Clone(b.Held[:1]), []int32{0, 2, 3}
			})
		},
	},
	"a pod leaves an address that it only claimed": {
		func(s *model.Snapshot) {
			s.Pods[0].Name, s.Pods[0].Ready, s.Pods[0].Annotation, s.Pods[0].Annotated = "other", false, model.Absent, nil
		},
		func(s *model.Snapshot) observe.Change { return changePod(s, 0, func(p *model.Pod) { p.IPs = nil }) }, "PL1001/10.0.0.1", nil,
	},
	"the same, held by no handle": {
		func(s *model.Snapshot) {
			s.Pods[0].Name, s.Pods[0].Ready, s.Pods[0].Annotation, s.Pods[0].Annotated = "other", false, model.Absent, nil
			s.Blocks[0].Attributes[0].Handle = ""
		},
		func(s *model.Snapshot) observe.Change { return changePod(s, 0, func(p *model.Pod) { p.IPs = nil }) }, "PL1001/10.0.0.1", nil,
	},
	"a pod comes to the node of a sandbox of its name": {
		both(living(), func(s *model.Snapshot) {
			s.Pods = append(s.Pods, model.Pod{Namespace: "shop", Name: "db", UID: "u3", Node: "n2", Phase: model.Running, Ready: true})
		}),
		func(s *model.Snapshot) observe.Change { return changePod(s, 1, func(p *model.Pod) { p.Node = "n1" }) }, "PL1002/10.0.0.2", nil,
	},
	"a block is written in which the sandbox of a pod elsewhere lives": {
		both(living(), func(s *model.Snapshot) {
			s.Pods = append(s.Pods, model.Pod{Namespace: "shop", Name: "db", UID: "u3", Node: "n2", Phase: model.Running, Ready: true})
		}),
		func(s *model.Snapshot) observe.Change {
			return changeBlock(s, func(b *model.Block) { b.Revision = "2" })
		}, "PL1002/10.0.0.2", nil,
	},
	"a pod that is a sandbox's by its UID wants IPAM": {
		both(living(), func(s *model.Snapshot) {
			s.Pods = append(s.Pods, model.Pod{Namespace: "shop", Name: "alias", UID: "u2", Node: "n1", Phase: model.Running, NoIPAM: true})
		}),
		func(s *model.Snapshot) observe.Change {
			return changePod(s, 1, func(p *model.Pod) { p.NoIPAM = false })
		}, "PL1002/10.0.0.2", nil,
	},
	"a node comes that has the name that Calico had for another": {
		func(s *model.Snapshot) {
			asEtcd(s)
			s.Nodes[0].Tunnels = []model.Tunnel{{Kind: "vxlan", IP: ip2}}
			s.Hosts = []model.Host{{Name: "x", Kubernetes: "n1", Tunnels: s.Nodes[0].Tunnels}}
			b := &s.Blocks[0]
			b.Attributes = append(b.Attributes, model.Attribute{Handle: "vxlan-tunnel-addr-x", Node: "x", Type: "vxlanTunnelAddress"})
			b.Held, b.Free = append(b.Held, model.Slot{2, 1}), []int32{0, 3}
		},
		func(s *model.Snapshot) observe.Change {
			n := model.Node{Name: "x", Ready: true}
			s.Nodes = append(s.Nodes, n)
			return observe.Change{Ref: n.Ref(), Row: &n}
		}, "PL1008/10.0.0.2", nil,
	},
	"a node goes that has the name that Calico has for another": {
		func(s *model.Snapshot) {
			asEtcd(s)
			s.Nodes[0].Tunnels = []model.Tunnel{{Kind: "vxlan", IP: ip2}}
			s.Hosts = []model.Host{{Name: "n1", Tunnels: s.Nodes[0].Tunnels}, {Name: "x", Kubernetes: "n1"}}
			s.Nodes = append(s.Nodes, model.Node{Name: "x", Ready: true})
			b := &s.Blocks[0]
			b.Attributes = append(b.Attributes, model.Attribute{Handle: "vxlan-tunnel-addr-n1", Node: "n1", Type: "vxlanTunnelAddress"})
			b.Held, b.Free = append(b.Held, model.Slot{2, 1}), []int32{0, 3}
		},
		func(s *model.Snapshot) observe.Change {
			s.Nodes = slices.DeleteFunc(slices.Clone(s.Nodes), func(n model.Node) bool { return n.Name == "x" })
			return observe.Change{Ref: model.Ref{Kind: model.KindNode, Name: "x"}}
		}, "-PL1008/10.0.0.2", nil,
	},
	"the handle of a pod's address becomes another's": {
		func(*model.Snapshot) {},
		func(s *model.Snapshot) observe.Change {
			return changeBlock(s, func(b *model.Block) {
				b.Attributes = slices.Clone(b.Attributes)
				b.Attributes[0].Handle = network + "." + containerOf("older")
			})
		}, "PL2003/shop/web", nil,
	},
	"the handle of an endpoint's address becomes another's": {
		func(s *model.Snapshot) { asEtcd(s); s.Pods[0].IPs = nil },
		func(s *model.Snapshot) observe.Change {
			return changeBlock(s, func(b *model.Block) {
				b.Attributes = slices.Clone(b.Attributes)
				b.Attributes[0].Handle = network + "." + containerOf("older")
			})
		}, "PL2003/shop/web", nil,
	},
	"a pod with a wrong endpoint is only written": {
		func(s *model.Snapshot) { asEtcd(s); s.Endpoints[0].ContainerID = containerOf("older") },
		func(s *model.Snapshot) observe.Change {
			return changePod(s, 0, func(p *model.Pod) { p.Revision = "7" })
		}, "PL2003/shop/web", nil,
	},
	"a block of another size comes around an address that no block has": {
		func(s *model.Snapshot) {
			s.Pods[0].IPs = []netip.Addr{netip.MustParseAddr("10.0.9.9")}
			s.Pods[0].Annotated = s.Pods[0].IPs
		},
		func(s *model.Snapshot) observe.Change {
			c := netip.MustParsePrefix("10.0.9.0/28")
			b := model.Block{Name: model.BlockName(c), CIDR: c, Length: 16, Free: []int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, Revision: "8"}
			s.Blocks = append(s.Blocks, b)
			return observe.Change{Ref: b.Ref(), Row: &b}
		}, "PL1002/10.0.9.9", nil,
	},
	"an affinity comes whose range is not written as the block's": {
		func(s *model.Snapshot) { s.Affinities = nil },
		func(s *model.Snapshot) observe.Change {
			a := model.Affinity{Name: "a", Node: "n1", Type: "host", CIDR: netip.MustParsePrefix("10.0.0.1/30"), State: "confirmed", Labelled: true}
			s.Affinities = append(s.Affinities, a)
			return observe.Change{Ref: a.Ref(), Row: &a}
		}, "-PL1007/10.0.0.0/30", nil,
	},
	"the victim of an endless DEL is only written": {
		func(s *model.Snapshot) {
			e := failedDEL("web", "n1", containerOf("older"))
			e.Namespace = "shop"
			s.Events = []model.Event{e}
		},
		func(s *model.Snapshot) observe.Change {
			return changePod(s, 0, func(p *model.Pod) { p.Revision = "7" })
		}, "PL4006/shop/web", nil,
	},
}

// What chance hardly meets: each relation by which a change concerns what is far from it.
func TestRowsRelations(t *testing.T) {
	t.Parallel()
	for name, r := range relations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := base()
			r.before(s)
			rows, err := observe.NewRows(copied(s))
			if err != nil {
				t.Fatal(err)
			}
			if r.first != nil {
				if err := rows.Put([]observe.Change{r.first(s)}); err != nil {
					t.Fatal(err)
				}
			}
			before := keys(found(rows, now))
			if err := rows.Put([]observe.Change{r.change(s)}); err != nil {
				t.Fatal(err)
			}
			after := found(rows, now)
			c := &churn{s: s}
			if wrong := differ(after, c.whole(now)); wrong != "" {
				t.Errorf("%v, then %v: %s", before, keys(after), wrong)
			}
			key, gone := r.wants, r.wants[0] == '-'
			if gone {
				key = key[1:]
			}
			if slices.Contains(keys(after), key) == gone {
				t.Errorf("%v, then %v", before, keys(after))
			}
		})
	}
}
