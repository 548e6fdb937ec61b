package audit_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/netip"

	"pgregory.net/rapid"

	"plumbline.dev/plumbline/internal/model"
)

// A world is a cluster that is healthy by construction: every record is written as Calico and
// Kubernetes would write it, including what is unusual but correct. With agents, node state is
// derived from the running pods, never from the IPAM records.
type world struct {
	t      *rapid.T
	s      model.Snapshot
	etcd   bool
	agents bool
	dual   bool
	next   map[string]int           // free ordinals to take, by block
	seats  map[string]int           // pods that a node has had, by node
	places map[string]int           // their numbers there, by pod
	habits map[string]string        // what is unusual about a node, but correct
	shut   map[string]bool          // nodes reserved for one fault
	lost   map[string][]model.Table // tables that are not read of a node
	n      int
}

const (
	sequence = 1_800_000_000_000_000_000
	old      = model.Time(1_700_000_000)
)

func newWorld(t *rapid.T) *world {
	w := &world{t: t, next: map[string]int{}, seats: map[string]int{}, places: map[string]int{}, habits: map[string]string{}, shut: map[string]bool{}, lost: map[string][]model.Table{}}
	w.etcd = rapid.Bool().Draw(t, "etcd")
	w.agents = rapid.Bool().Draw(t, "agents")
	w.dual = w.pick("dual", 3) == 1
	w.s.Meta = model.Meta{Schema: 1, GUID: "g", Taken: now}
	w.s.Info = []model.Info{{Datastore: w.datastore(), Calico: "v3.31.0", Ready: true, IPAM: "calico", Networking: "calico"}}
	w.s.Collector = []model.GarbageCollectorConfig{{LeakGracePeriod: 900}}
	w.s.Pools = []model.Pool{
		{Name: "default", CIDR: pool4, BlockSize: 28},
		{Name: "lb", CIDR: netip.MustParsePrefix("10.1.0.0/24"), BlockSize: 28, Uses: []string{"LoadBalancer"}},
	}
	if w.dual {
		w.s.Pools = append(w.s.Pools, model.Pool{Name: "default6", CIDR: pool6, BlockSize: 124})
	}
	for _, t := range model.Tables() {
		if !t.OfNode() {
			w.s.Coverage = append(w.s.Coverage, model.Coverage{Table: t, State: model.Complete})
		}
	}
	if n := w.node().Name; w.agents && w.pick("multus", 4) == 1 {
		w.multus(n)
	}
	for range rapid.IntRange(0, 3).Draw(t, "nodes") {
		w.someNode()
	}
	for range rapid.IntRange(0, 12).Draw(t, "pods") {
		w.somePod()
	}
	w.oddities()
	w.leftovers()
	return w
}

func (w *world) datastore() string { return map[bool]string{true: "etcd", false: "kdd"}[w.etcd] }

func (w *world) pick(name string, n int) int { return rapid.IntRange(0, n-1).Draw(w.t, name) }

func (w *world) fresh(kind string) string { w.n++; return fmt.Sprintf("%s-%d", kind, w.n) }

func containerOf(name string) string {
	h := sha256.Sum256([]byte(name))
	return hex.EncodeToString(h[:])
}

// uidOf looks as Kubernetes' own do; hashOf as that of a static pod's manifest.
func uidOf(name string) string {
	h := hashOf(name)
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

func hashOf(name string) string { return containerOf("uid of " + name)[:32] }

// node adds one that has nothing odd about it.
func (w *world) node() *model.Node {
	name := w.fresh("node")
	ip := w.take(w.block(pool4, "host:"+name))
	if w.dual {
		w.block(pool6, "host:"+name)
	}
	w.s.Nodes = append(w.s.Nodes, model.Node{Name: name, Ready: true, Created: old, Changed: old, Tunnels: []model.Tunnel{{Kind: "vxlan", IP: ip}}})
	w.hold(ip, model.Attribute{Handle: "vxlan-tunnel-addr-" + name, Node: name, Type: "vxlanTunnelAddress"}, true)
	if w.agents {
		if w.s.NodeState == nil {
			w.s.NodeState = map[string]*model.NodeState{}
		}
		w.s.NodeState[name] = factsOf(name, ip)
		for _, t := range model.FactTables() {
			w.s.Coverage = append(w.s.Coverage, model.Coverage{Table: t, Node: name, State: model.Complete})
		}
	}
	return &w.s.Nodes[len(w.s.Nodes)-1]
}

// open gives a node that pods may land on.
func (w *world) open() string {
	var names []string
	for i := range w.s.Nodes {
		if !w.shut[w.s.Nodes[i].Name] {
			names = append(names, w.s.Nodes[i].Name)
		}
	}
	return names[w.pick("node", len(names))]
}

// oddities adds IPAM records that only look wrong.
func (w *world) oddities() {
	if rapid.Bool().Draw(w.t, "cooling") {
		w.hold(w.take(&w.s.Blocks[0]), model.Attribute{Cooling: true}, false)
	}
	if rapid.Bool().Draw(w.t, "windows") {
		w.hold(w.take(&w.s.Blocks[0]), model.Attribute{Handle: model.WindowsHandle}, false)
	}
	if rapid.Bool().Draw(w.t, "service") {
		ip := w.take(&w.s.Blocks[0])
		w.s.Services = append(w.s.Services, model.Service{Namespace: "ns", Name: "front", IPs: []netip.Addr{ip}})
		w.hold(ip, model.Attribute{Handle: "lb-1", Namespace: "ns", Service: "front", Type: "LoadBalancer"}, true)
	}
	if rapid.Bool().Draw(w.t, "machine") {
		w.s.VMs = append(w.s.VMs, model.VM{Namespace: "ns", Name: "vm"})
		w.hold(w.take(&w.s.Blocks[0]), model.Attribute{Handle: "k8s-pod-network.vmi.ns.vm", Namespace: "ns", VM: "vm"}, true)
	}
	if w.etcd && rapid.Bool().Draw(w.t, "stranger") {
		w.s.Endpoints = append(w.s.Endpoints, model.Endpoint{Namespace: "ns", Name: "other-k8s-x", Node: "other", Orchestrator: "k8s", Pod: "x"})
	}
}
