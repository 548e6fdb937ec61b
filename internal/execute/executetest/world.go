package executetest

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"time"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair/change"
)

const (
	network = "k8s-pod-network"
	begin   = model.Time(1_700_000_000)
	second  = int64(1000) // of the world's own clock, which counts milliseconds
	never   = int64(1) << 62
)

var (
	pool4 = netip.MustParsePrefix("10.0.0.0/24")
	pool6 = netip.MustParsePrefix("fd00::/120")
)

// A world is a cluster: Kubernetes objects, the Calico datastore, and the true state of the nodes.
type world struct {
	seed uint64
	rng  *rand.Rand
	etcd bool // Calico keeps its own etcd, with endpoints; else custom resources and annotations
	dual bool

	kube, calico *Store
	revision     [2]uint64
	now          int64 // milliseconds since the world began
	names        int   // given so far

	nodes     []*node // machines: they continue to run when their Node is deleted
	tasks     []*task
	kubelets  []*kubelet
	collector *collector
	rate      int // one in so many ticks something else happens; 0 means never

	shared   map[netip.Addr]bool   // addresses that two running pods once had
	freed    map[netip.Addr]bool   // addresses that were last freed by us
	dead     []*box                // sandboxes that exited
	wroteFor map[netip.Addr]bool   // addresses that Plumbline recorded for a pod
	heldFrom map[netip.Addr]string // owners before our temporary handle
	theirs   map[model.Ref]bool    // what others wrote last, since we began
	asked    int64                 // time of the last verification
	trace    []string              // what happened, if somebody wants to know
	traced   bool
	began    bool  // Plumbline has
	broken   error // the first harm that was seen
	deposed  bool  // another Plumbline has the lease, and this one is about to learn it
	unknown  int   // harm on machines that nothing shows
	others   int   // further Plumblines that were at work

	// full worlds have everything that a plan can change on a node: one in four, so that seeds that
	// once found something else stay what they were.
	full     bool
	own      *rand.Rand          // of what only full worlds have
	consent  change.Risk         // up to which a person has allowed the plan
	born     map[model.Ref]int64 // when a pod was made last
	looked   map[model.Ref]int64 // when Plumbline last read it
	changed  map[model.Ref]int64 // when others last wrote it
	restarts map[string]bool     // nodes whose calico-node Plumbline ended
}

func newWorld(seed uint64) *world {
	w := &world{seed: seed, rng: rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15)), shared: map[netip.Addr]bool{}, freed: map[netip.Addr]bool{}, wroteFor: map[netip.Addr]bool{}, heldFrom: map[netip.Addr]string{}, theirs: map[model.Ref]bool{}} //nolint:gosec // a seed must give the same world again
	w.full, w.own, w.consent = seed%4 == 0, rand.New(rand.NewPCG(seed, 0x2545f4914f6cdd1d)), change.Destructive                                                                                                                                  //nolint:gosec // likewise
	w.born, w.looked, w.changed, w.restarts = map[model.Ref]int64{}, map[model.Ref]int64{}, map[model.Ref]int64{}, map[string]bool{}
	w.etcd, w.dual = w.one(2), w.one(3)
	w.kube = NewStore(false, &w.revision[0], w.time)
	w.calico = NewStore(w.etcd, &w.revision[0], w.time)
	if w.etcd {
		w.calico.counter = &w.revision[1]
	}
	w.kube.wrote, w.calico.wrote = w.saw, w.saw
	w.collector = newCollector(w)
	return w
}

// time is the API server's.
func (w *world) time() model.Time { return begin + model.Time(w.now/second) }

// one is true once in n times.
func (w *world) one(n int) bool { return w.rng.IntN(n) == 0 }

func (w *world) pick(n int) int { return w.rng.IntN(n) }

// between is some time of a range, on the world's clock.
func (w *world) between(low, high time.Duration) int64 {
	return low.Milliseconds() + w.rng.Int64N(max(1, (high-low).Milliseconds()))
}

// fresh is a number that nothing else has.
func (w *world) fresh() int { w.names++; return w.names }

// hexID looks as container IDs do, and is short. Worlds of other seeds have others.
func (w *world) hexID() string {
	return fmt.Sprintf("%016x", uint64(w.fresh())*0x9e3779b97f4a7c15^w.seed*0xbf58476d1ce4e5b9)
}

func (w *world) log(format string, args ...any) {
	if w.traced {
		w.trace = append(w.trace, fmt.Sprintf("%6d.%03d ", w.now/second, w.now%second)+fmt.Sprintf(format, args...))
	}
}

// saw is called after every write of anybody.
func (w *world) saw(c write) {
	if w.traced {
		w.log("%s", c.String())
	}
	w.theirs[c.ref] = c.by == others && w.began
	if c.by == others {
		w.changed[c.ref] = w.now
	}
	w.collector.sees(c)
	if c.by == plumbline {
		w.judge(c)
	}
}

// handleOf is what a container's addresses are held by.
func handleOf(cid string) string { return network + "." + cid }

func single(ip netip.Addr) netip.Prefix { return netip.PrefixFrom(ip, ip.BitLen()) }

// blockCIDR is the range of the nth block of a family.
func blockCIDR(n int, four bool) netip.Prefix {
	p := pool6
	if four {
		p = pool4
	}
	return netip.PrefixFrom(model.Offset(p, int32(n*perBlock)), p.Addr().BitLen()-3)
}

func blockOf(ip netip.Addr) netip.Prefix {
	p, _ := ip.Prefix(ip.BitLen() - 3)
	return p
}

func ordinalOf(ip netip.Addr) int32 {
	b := ip.AsSlice()
	return int32(b[len(b)-1]) % perBlock
}
