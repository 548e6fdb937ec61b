package ways

import (
	"bytes"
	"context"
	"crypto/sha1" //nolint:gosec // Felix's choice
	"flag"
	"fmt"
	"io"
	"net/netip"
	"net/url"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/snapshotio"
)

var nodes = flag.Int("nodes", 200, "number of nodes, each with one block and an agent that answers")

// A cluster is what Calico's records have of nodes and blocks, and what each node's kernel has.
type cluster struct {
	size  int
	late  bool // one block is so new that no node has a route to it
	bytes atomic.Int64
}

func (c *cluster) ip(n int) netip.Addr {
	return netip.AddrFrom4([4]byte{172, 16 + byte(n>>16), byte(n >> 8), byte(n)})
}

func (c *cluster) block(n int) netip.Prefix {
	i := uint32(n) << 6
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), 26)
}

func name(n int) string { return "node-" + strconv.Itoa(n) }

func mac(n int) string {
	sum := sha1.Sum([]byte(name(n))) //nolint:gosec // Felix's choice
	return fmt.Sprintf("66:%02x:%02x:%02x:%02x:%02x", sum[0], sum[1], sum[2], sum[3], sum[4])
}

// records are what Kubernetes and Calico have.
func (c *cluster) records() *model.Snapshot {
	s := &model.Snapshot{
		Info:  []model.Info{{IPAM: "calico", Networking: "calico", Datastore: "kdd", Ready: true}},
		Pools: []model.Pool{{Name: "p", CIDR: netip.MustParsePrefix("10.0.0.0/8"), BlockSize: 26, Tunnel: "VXLAN", Mode: "Always"}},
	}
	for _, t := range model.Tables() {
		if !t.OfNode() {
			s.Coverage = append(s.Coverage, model.Coverage{Table: t, State: model.Complete})
		}
	}
	for n := range c.size {
		s.Nodes = append(s.Nodes, model.Node{Name: name(n), Ready: true, CalicoIPs: []netip.Addr{c.ip(n)}, Tunnels: []model.Tunnel{{Kind: "vxlan", IP: c.block(n).Addr()}}})
		s.Blocks = append(s.Blocks, model.Block{CIDR: c.block(n), Affinity: "host:" + name(n), Length: 64})
	}
	if c.late {
		s.Blocks = append(s.Blocks, model.Block{CIDR: c.block(c.size + 1), Affinity: "host:" + name(0), Length: 64})
	}
	return s
}

// kernel is what a node has: a route and a neighbour entry for each other one, as Felix writes them.
func (c *cluster) kernel(n int, macs []string) *model.NodeState {
	f := &model.NodeState{
		Links:    []model.Link{{Index: 2, Name: "eth0", Up: true, MTU: 1500, IPs: []netip.Prefix{netip.PrefixFrom(c.ip(n), 12)}}, {Index: 3, Name: "vxlan.calico", Kind: "vxlan", Up: true, MTU: 1450}},
		Routes:   []model.Route{{Dst: netip.MustParsePrefix("0.0.0.0/0"), Gateway: netip.MustParseAddr("172.31.0.1"), Link: 2, Table: 254}},
		Rules:    []model.Rule{{Table: 255}, {Priority: 32766, Table: 254}, {Priority: 32767, Table: 253}},
		Machines: []model.Machine{{BootID: "b", Felix: "ready", Uptime: 90000, NodeName: name(n)}},
	}
	for m := range c.size {
		if m == n {
			continue
		}
		f.Routes = append(f.Routes,
			model.Route{Dst: c.block(m), Gateway: c.block(m).Addr(), Link: 3, Table: 254, Protocol: 80},
			model.Route{Dst: netip.PrefixFrom(c.block(m).Addr(), 32), Link: 3, Table: 254, Protocol: 80, Scope: "link"})
		f.Neighbours = append(f.Neighbours, model.Neighbour{IP: c.block(m).Addr(), MAC: macs[m], Link: 3, State: "PERMANENT", FDB: c.ip(m).String()})
	}
	return f
}

// fleet answers for all nodes, as agents do.
func (c *cluster) fleet() *agent.Fleet {
	macs, f := make([]string, c.size), &agent.Fleet{Now: time.Now, AtOnce: 2}
	for n := range c.size {
		macs[n] = mac(n)
		f.Nodes = append(f.Nodes, name(n))
	}
	f.Open = func(_ context.Context, node, _ string, q url.Values) (io.ReadCloser, error) {
		n, err := strconv.Atoi(node[len("node-"):])
		if err != nil {
			return nil, err
		}
		state := c.kernel(n, macs)
		if q.Get("ways") == "sum" {
			var open []int
			for _, b := range q["open"] {
				i, _ := strconv.Atoi(b)
				open = append(open, i)
			}
			state.SumWays(open)
		}
		s := &model.Snapshot{Meta: model.Meta{Schema: 2, Taken: model.At(time.Now())}, NodeState: map[string]*model.NodeState{node: state}}
		for _, t := range model.FactTables() {
			s.Coverage = append(s.Coverage, model.Coverage{Table: t, Node: node, State: model.Complete})
		}
		var b bytes.Buffer
		err = snapshotio.WriteBundle(&b, s)
		c.bytes.Add(int64(b.Len()))
		return io.NopCloser(&b), err
	}
	return f
}

// A cost is what one check of the ways costs.
type cost struct {
	read, judge time.Duration
	bytes       int64
	heap        uint64
	asked       int // nodes that were asked for rows
}

// check reads all agents and compares.
func (c *cluster) check(t testing.TB, sums bool) cost {
	t.Helper()
	f := c.fleet()
	c.bytes.Store(0)
	var b model.Builder
	b.Add(func(s *model.Snapshot) { *s = *c.records() })
	began := time.Now()
	collect := f.Collect
	if sums {
		collect = f.Summing().Collect
	}
	if _, err := collect(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	s := b.Snapshot()
	read := time.Now()
	v := model.Seal(s)
	open := detect.OpenWays(v)
	if len(open) > 0 {
		f.Ways(t.Context(), s, open)
		v = model.Seal(s)
	}
	got := detect.Run(v, detect.PL3007)
	judged := time.Since(read)
	var mem runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&mem)
	if !c.late && len(got.Findings) != 0 || c.late && len(got.Findings) != c.size-1 {
		t.Errorf("%d findings of %d nodes, %v", len(got.Findings), c.size, got.Skipped)
	}
	runtime.KeepAlive(v)
	return cost{read.Sub(began), judged, c.bytes.Load(), mem.HeapAlloc, len(open)}
}

// What agents send and what is kept of ways grows with the square of the nodes as rows, and with the
// nodes as sums.
func TestWays(t *testing.T) {
	c := &cluster{size: *nodes}
	summed := c.check(t, true)
	t.Logf("%d nodes, sums: read %s, judged %s, %d bytes, heap %d MB", c.size, summed.read, summed.judge, summed.bytes, summed.heap>>20)
	if summed.asked != 0 {
		t.Errorf("%d nodes were asked for rows although all is as it should be", summed.asked)
	}
	late := (&cluster{size: *nodes, late: true}).check(t, true)
	t.Logf("one block is new: read %s, judged with %d nodes asked again %s, %d bytes", late.read, late.asked, late.judge, late.bytes)
	half := (&cluster{size: *nodes / 2}).check(t, true)
	if per, before := float64(summed.bytes)/float64(c.size), float64(half.bytes)/float64(c.size/2); per > 1.5*before { // rows double; what varies from run to run is how often agents send
		t.Errorf("an agent sends %.0f bytes, with half as many nodes %.0f", per, before)
	}
	if *nodes > 1000 {
		return // their rows do not fit
	}
	rows := c.check(t, false)
	t.Logf("rows: read %s, judged %s, %d bytes, heap %d MB", rows.read, rows.judge, rows.bytes, rows.heap>>20)
	if summed.bytes >= rows.bytes || summed.heap*4 > rows.heap {
		t.Errorf("sums take %d bytes and %d of heap, rows %d and %d", summed.bytes, summed.heap, rows.bytes, rows.heap)
	}
}
