package audit_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/netip"
	"slices"

	"pgregory.net/rapid"

	"plumbline.dev/plumbline/internal/model"
)

// A world is a cluster that is healthy by construction: every record is written as
// Calico and Kubernetes would write it, with all that is odd and normal.
type world struct {
	t    *rapid.T
	s    model.Snapshot
	etcd bool
	pool netip.Prefix
	next map[string]int  // free ordinals to take, by block
	used map[string]bool // pods that a fault has taken
	n    int
}

const sequence = 1_800_000_000_000_000_000

func newWorld(t *rapid.T) *world {
	w := &world{t: t, pool: netip.MustParsePrefix("10.0.0.0/16"), next: map[string]int{}, used: map[string]bool{}}
	w.etcd = rapid.Bool().Draw(t, "etcd")
	w.s.Meta = model.Meta{Schema: 1, GUID: "g", Taken: 1_800_000_000}
	w.s.Info = []model.Info{{Datastore: map[bool]string{true: "etcd", false: "kdd"}[w.etcd], Calico: "v3.31.0", Ready: true, IPAM: "calico", Networking: "calico"}}
	w.s.Collector = []model.CollectorConfig{{Grace: 900}}
	w.s.Pools = []model.Pool{{Name: "default", CIDR: w.pool, BlockSize: 28}, {Name: "lb", CIDR: netip.MustParsePrefix("10.1.0.0/24"), BlockSize: 28, Uses: []string{"LoadBalancer"}}}
	for _, t := range model.Tables() {
		w.s.Coverage = append(w.s.Coverage, model.Coverage{Table: t, State: model.Complete})
	}
	for range rapid.IntRange(1, 4).Draw(t, "nodes") {
		w.node()
	}
	for range rapid.IntRange(0, 12).Draw(t, "pods") {
		w.somePod()
	}
	w.oddities()
	return w
}

func (w *world) pick(name string, n int) int { return rapid.IntRange(0, n-1).Draw(w.t, name) }

func (w *world) fresh(kind string) string { w.n++; return fmt.Sprintf("%s-%d", kind, w.n) }

func containerOf(name string) string {
	h := sha256.Sum256([]byte(name))
	return hex.EncodeToString(h[:])
}

func (w *world) node() *model.Node {
	name := w.fresh("node")
	b := w.block("host:" + name)
	ip := w.take(b)
	w.s.Nodes = append(w.s.Nodes, model.Node{Name: name, Ready: true, Tunnels: []model.Tunnel{{Kind: "vxlan", IP: ip}}})
	w.hold(ip, model.Attribute{Handle: "vxlan-tunnel-addr-" + name, Node: name, Type: "vxlanTunnelAddress"}, true)
	return &w.s.Nodes[len(w.s.Nodes)-1]
}

func (w *world) block(affinity string) *model.Block {
	cidr := netip.PrefixFrom(model.Offset(w.pool, int32(16*len(w.s.Blocks))), 28)
	b := model.Block{Name: fmt.Sprintf("10-0-%d-%d-28", cidr.Addr().As4()[2], cidr.Addr().As4()[3]), CIDR: cidr, Affinity: affinity, Length: 16, Sequence: sequence + 1000}
	if !w.etcd {
		b.Written = 1_700_000_000 // etcd has no times
	}
	for i := range int32(16) {
		b.Free = append(b.Free, i)
	}
	w.s.Blocks = append(w.s.Blocks, b)
	if n := b.Node(); n != "" {
		w.s.Affinities = append(w.s.Affinities, model.Affinity{Name: n + "-" + b.Name, Node: n, Type: "host", CIDR: cidr, State: "confirmed", Labelled: true})
	}
	return &w.s.Blocks[len(w.s.Blocks)-1]
}

// take gives the next address of a block, or of a new one of the same owner.
func (w *world) take(b *model.Block) netip.Addr {
	if w.next[b.Name] == 12 {
		b = w.block(b.Affinity)
	}
	w.next[b.Name]++
	return model.Offset(b.CIDR, int32(w.next[b.Name]-1))
}

func (w *world) blockWith(ip netip.Addr) *model.Block {
	for i := range w.s.Blocks {
		if w.s.Blocks[i].CIDR.Contains(ip) {
			return &w.s.Blocks[i]
		}
	}
	w.t.Fatalf("no block for %s", ip)
	return nil
}

func ordinal(b *model.Block, ip netip.Addr) int32 {
	for i := range int32(16) {
		if model.Offset(b.CIDR, i) == ip {
			return i
		}
	}
	return -1
}

// hold records an address as IPAM does, and counts it in its handle.
func (w *world) hold(ip netip.Addr, at model.Attribute, counted bool) {
	b := w.blockWith(ip)
	o := ordinal(b, ip)
	i := slices.Index(b.Attributes, at)
	if i < 0 {
		b.Attributes = append(b.Attributes, at)
		i = len(b.Attributes) - 1
	}
	b.Held = append(b.Held, model.Slot{o, int32(i)})
	b.Free = slices.DeleteFunc(b.Free, func(f int32) bool { return f == o })
	if rapid.IntRange(0, 9).Draw(w.t, "old") > 0 { // before 3.22 there was none
		b.Sequences = append(b.Sequences, model.Sequence{Ordinal: o, Number: sequence + uint64(len(b.Held))})
	}
	if !counted || at.Handle == "" {
		return
	}
	for j := range w.s.Handles {
		if h := &w.s.Handles[j]; h.ID == at.Handle {
			for k := range h.Blocks {
				if h.Blocks[k].CIDR == b.CIDR {
					h.Blocks[k].Count++
					return
				}
			}
			h.Blocks = append(h.Blocks, model.BlockCount{CIDR: b.CIDR, Count: 1})
			return
		}
	}
	w.s.Handles = append(w.s.Handles, model.Handle{ID: at.Handle, Name: at.Handle, Blocks: []model.BlockCount{{CIDR: b.CIDR, Count: 1}}})
}

// release frees an address as a DEL does: its sequence number stays behind.
func (w *world) release(ip netip.Addr) {
	b := w.blockWith(ip)
	o := ordinal(b, ip)
	i := slices.IndexFunc(b.Held, func(s model.Slot) bool { return s[0] == o })
	at := b.Held[i][1]
	handle := b.Attributes[at].Handle
	b.Held = slices.Delete(b.Held, i, i+1)
	b.Free = append(b.Free, o)
	if !slices.ContainsFunc(b.Held, func(s model.Slot) bool { return s[1] == at }) {
		b.Attributes = slices.Delete(b.Attributes, int(at), int(at)+1)
		for k := range b.Held {
			if b.Held[k][1] > at {
				b.Held[k][1]--
			}
		}
	}
	w.s.Handles = slices.DeleteFunc(w.s.Handles, func(h model.Handle) bool { return h.ID == handle })
}

// running adds a pod that runs and is recorded everywhere.
func (w *world) running() *model.Pod {
	node := w.s.Nodes[w.pick("node", len(w.s.Nodes))].Name
	from := node
	if rapid.IntRange(0, 9).Draw(w.t, "borrows") == 0 {
		from = w.s.Nodes[w.pick("lender", len(w.s.Nodes))].Name
	}
	var ip netip.Addr
	for i := range w.s.Blocks {
		if w.s.Blocks[i].Node() == from {
			ip = w.take(&w.s.Blocks[i])
			break
		}
	}
	name := w.fresh("pod")
	p := model.Pod{Namespace: "ns", Name: name, UID: "uid-" + name, Node: node, Phase: model.Running, Ready: rapid.IntRange(0, 4).Draw(w.t, "ready") > 0, IPs: []netip.Addr{ip}, Written: 1_700_000_000}
	w.record(&p)
	w.hold(ip, model.Attribute{Handle: "k8s-pod-network." + containerOf(name), Namespace: "ns", Pod: name, Node: node}, true)
	w.s.Pods = append(w.s.Pods, p)
	return &w.s.Pods[len(w.s.Pods)-1]
}

// record writes Calico's word about a pod, where this datastore has it.
func (w *world) record(p *model.Pod) {
	if !w.etcd {
		p.Annotation, p.Annotated, p.ContainerID = model.Written, p.IPs, containerOf(p.Name)
		return
	}
	w.s.Endpoints = append(w.s.Endpoints, model.Endpoint{
		Namespace: p.Namespace, Name: p.Node + "-k8s-" + p.Name, Node: p.Node, Orchestrator: "k8s", Pod: p.Name, ContainerID: containerOf(p.Name), IPs: slices.Clone(p.IPs),
	})
}

// somePod adds a pod in any state that a healthy cluster has.
func (w *world) somePod() {
	switch w.pick("state", 8) {
	case 0: // finished, its address long given back
		p := w.running()
		p.Phase, p.Ready = model.Succeeded, false
		w.tearDown(p)
	case 1: // being deleted, its network gone, held by a finalizer
		p := w.running()
		p.Deleted, p.Ready = w.s.Meta.Taken-60, false
		if !w.etcd { // in etcd mode nothing on the pod tells; the kubelet removes it in seconds
			w.tearDown(p)
		}
	case 2: // its sandbox is being created: an allocation, and nothing else yet
		p := w.running()
		p.Phase, p.Ready, p.IPs = model.Pending, false, nil
		w.forget(p)
	case 3: // waits for a node
		w.s.Pods = append(w.s.Pods, model.Pod{Namespace: "ns", Name: w.fresh("pod"), Phase: model.Pending})
	case 4: // on the host's network
		n := w.s.Nodes[w.pick("host", len(w.s.Nodes))]
		w.s.Pods = append(w.s.Pods, model.Pod{Namespace: "ns", Name: w.fresh("pod"), Node: n.Name, Phase: model.Running, Ready: true, HostNetwork: true, IPs: []netip.Addr{netip.MustParseAddr("192.168.0.1")}})
	default:
		w.running()
	}
}

func (w *world) tearDown(p *model.Pod) {
	w.release(p.IPs[0])
	w.forget(p)
	if !w.etcd {
		p.Annotation, p.ContainerID = model.Emptied, containerOf(p.Name)
	}
}

func (w *world) forget(p *model.Pod) {
	p.Annotation, p.Annotated, p.ContainerID = model.Absent, nil, ""
	w.s.Endpoints = slices.DeleteFunc(w.s.Endpoints, func(e model.Endpoint) bool { return e.Pod == p.Name })
}

// oddities adds what only looks wrong.
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
