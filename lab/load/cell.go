package load

import (
	"math/rand/v2"
	"net/netip"
	"slices"
	"time"
)

// A cell is a node with everything that belongs to it.
type cell struct {
	host       host
	blocks     []*block
	pods       []pod
	stale      []pod // pods that are gone and left their endpoint
	handles    []handle
	affinities []affinity
	faults     []Fault

	plan   *plan
	rand   *rand.Rand
	free   []netip.Addr // addresses that no pod has yet
	serial int          // of the next pod
}

type host struct {
	name, uid, machine, boot string
	address, tunnel          netip.Addr
	created                  time.Time
}

type pod struct {
	app                        *app
	namespace, name, uid       string
	sandbox, container, volume string
	host                       host
	address                    netip.Addr
	created                    time.Time
	endpoint                   bool // Calico has an endpoint for it
	finished                   bool
}

func (p pod) key() string { return p.namespace + "/" + p.name }

func (p pod) handleID() string { return "k8s-pod-network." + p.sandbox }

type handle struct {
	id, uid, block string
	count          int
	created        time.Time
}

type affinity struct {
	node, uid string
	block     netip.Prefix
	created   time.Time
}

// Node addresses are in a network that the lab does not use.
var nodeNet = netip.MustParsePrefix("172.16.0.0/12")

// cell creates node i: always the same for the same plan.
func (p *plan) cell(i int) *cell {
	share := p.nodes[i]
	r := rand.New(rand.NewPCG(p.Seed, uint64(i)+1))
	c := &cell{plan: p, rand: r, serial: i * p.PodsPerNode}
	c.host = host{
		name: nodeName(i), uid: uid(r), machine: id64(r)[:32], boot: uid(r), address: addressAt(nodeNet.Addr(), i+10),
		created: c.ago(30*24*time.Hour, 90*24*time.Hour),
	}
	for _, n := range share.blocks {
		b := newBlock(r, n, c.host)
		c.blocks = append(c.blocks, b)
		c.affinities = append(c.affinities, affinity{node: c.host.name, uid: uid(r), block: b.prefix, created: c.host.created})
		for _, ord := range b.Unallocated {
			c.free = append(c.free, addressAt(b.prefix.Addr(), ord))
		}
	}
	c.openTunnel()
	pods := share.pods
	for _, f := range share.faults {
		c.inject(f)
		pods -= f.kind.pods()
	}
	for range pods {
		c.healthy(c.newPod(c.takeAddress()))
	}
	return c
}

// ago returns a time in the past.
func (c *cell) ago(least, most time.Duration) time.Time {
	return c.plan.Now.Add(-least - time.Duration(c.rand.Int64N(int64(most-least)))).Truncate(time.Second)
}

func (c *cell) takeAddress() netip.Addr {
	a := c.free[0]
	c.free = c.free[1:]
	return a
}

func (c *cell) blockOf(a netip.Addr) *block {
	for _, b := range c.blocks {
		if b.prefix.Contains(a) {
			return b
		}
	}
	return c.blocks[0]
}

// openTunnel allocates the node's first address to its tunnel, before any pod starts.
func (c *cell) openTunnel() {
	c.host.tunnel = c.blocks[0].prefix.Addr()
	c.free = slices.DeleteFunc(c.free, func(a netip.Addr) bool { return a == c.host.tunnel })
	id := "vxlan-tunnel-addr-" + c.host.name
	c.blockOf(c.host.tunnel).claim(c.host.tunnel, attribute{id, map[string]string{"node": c.host.name, "type": "vxlanTunnelAddress"}})
	c.addHandle(id, c.host.tunnel, 1, c.host.created)
}

// newPod creates a pod of some Deployment, without adding it to any record.
func (c *cell) newPod(a netip.Addr) pod {
	app := &c.plan.apps[c.rand.IntN(len(c.plan.apps))]
	p := pod{
		app: app, namespace: app.namespace, name: app.replicaSet() + "-" + suffix(c.serial), uid: uid(c.rand),
		sandbox: id64(c.rand), container: id64(c.rand), volume: "kube-api-access-" + suffix(c.serial+1), host: c.host, address: a,
		created: c.ago(time.Hour, 20*24*time.Hour), endpoint: true,
	}
	c.serial++
	return p
}

// healthy adds the pod to all records.
func (c *cell) healthy(p pod) {
	c.pods = append(c.pods, p)
	c.claim(p, c.host.name)
	c.addHandle(p.handleID(), p.address, 1, p.created.Add(time.Second))
}

// claim adds the pod to IPAM, with this node.
func (c *cell) claim(p pod, node string) {
	at := p.created.Add(time.Second + time.Duration(c.rand.Int64N(1e9)))
	c.blockOf(p.address).claim(p.address, attribute{p.handleID(), map[string]string{
		"namespace": p.namespace, "node": node, "pod": p.name, "timestamp": at.String(),
	}})
}

func (c *cell) addHandle(id string, a netip.Addr, count int, created time.Time) {
	c.handles = append(c.handles, handle{id: id, uid: uid(c.rand), block: c.blockOf(a).CIDR, count: count, created: created})
}
