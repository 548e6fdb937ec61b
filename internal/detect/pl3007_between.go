package detect

import (
	"cmp"
	"fmt"
	"iter"
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// PL3007 finds nodes that do not send packets for pods of other nodes to those nodes: every block of
// another node, and every address that another node borrowed, is followed through routes, neighbours
// and forwarding database. Calico's records say where it must end.
var PL3007 = &Detector{
	Code: finding.PL3007, Title: "node does not reach the pods of another node", Severity: finding.Error, Class: finding.Kernel,
	Each:       []model.Table{model.Nodes},
	Needs:      []model.Table{model.Nodes, model.Hosts, model.Pools, model.Blocks, model.Links, model.Routes, model.Rules, model.Neighbours},
	Uses:       []model.Table{model.Machines, model.Pods, model.PodPhase, model.PodNode, model.PodStatus, model.Allocations},
	ShadowedBy: []finding.Code{finding.PL1010, finding.PL4008},
	Applies:    kernelIsCalicos, Since: "0.3", Run: betweenNodes,
}

func betweenNodes(p *Pass, _ model.Table, row int32) {
	n := p.Node(row)
	if n.OS == "windows" || n.Virtual() || len(p.CalicoIPsOf(n)) == 0 {
		return
	}
	if eBPF(p, n.Name) {
		p.untold[bpfForwards] = append(p.untold[bpfForwards], n.Name)
		return
	}
	if !modern(p.LinksOn(n.Name)) {
		p.untold[olderAgent] = append(p.untold[olderAgent], n.Name)
		return
	}
	if slices.ContainsFunc(p.Snapshot().Pools, func(l model.Pool) bool { return l.Tunnel != "" && l.Mode == "" }) {
		p.untold[olderPools] = append(p.untold[olderPools], n.Name)
	}
	w := newWays(p, n)
	if w.closed != nil && len(w.closed.differ) > 0 {
		p.untold[onlySums] = append(p.untold[onlySums], n.Name)
	}
	for i := range w.blocks() {
		if b := p.Block(i); !b.Deleted {
			w.judge(b.CIDR, b.Node())
		}
	}
	w.judgeParts()
	for a := range p.Borrowed() {
		if w.closed != nil && len(p.MachineOf(n.Name).Open) == 0 {
			break // all is as the records say
		}
		if peer := w.peer(p.AttributeOf(a).Node); peer != nil && runsAt(p, a.IP, peer.Name) {
			w.judge(netip.PrefixFrom(a.IP, a.IP.BitLen()), peer.Name)
		}
	}
	for _, why := range []string{encrypts, severalHops, perPod} {
		if w.unsaid[why] {
			p.untold[why] = append(p.untold[why], n.Name)
		}
	}
	w.report()
}

// What is reported for nodes whose routes cannot all be evaluated.
const (
	encrypts    = "WireGuard encrypts packets to other nodes, and its peers are not read,"
	severalHops = "routes with several next hops are not followed,"
	perPod      = "routes to other nodes are of single pods, and only those that are there are followed,"
)

// leaves notes why a way is not evaluated.
func (w *ways) leaves(why string) fault {
	if w.unsaid == nil {
		w.unsaid = map[string]bool{}
	}
	w.unsaid[why] = true
	return fault{}
}

// bpfForwards is said of nodes whose packets take other ways than the kernel's routes.
const bpfForwards = "the eBPF data plane forwards, whose maps are not read,"

// olderPools is said of bundles that older versions made.
const olderPools = "which packets must take a tunnel is not recorded,"

// onlySums is said of nodes whose rows could not be read after their sums.
const onlySums = "some ways to other nodes are not as Calico's records say, and were not read,"

// olderAgent is said of nodes whose agent does not read all that is needed.
const olderAgent = "the agent is older: it does not read forwarding databases, conditions of rules and MTUs,"

// modern reports whether the agent that read these interfaces reads all that is needed.
func modern(links []model.Link) bool {
	return slices.ContainsFunc(links, func(l model.Link) bool { return l.MTU > 0 })
}

// runsAt reports whether a running pod of a node has an address, and no other pod: that is PL2010.
func runsAt(p *Pass, ip netip.Addr, node string) (runs bool) {
	for pod := range p.PodsWith(ip) {
		switch {
		case pod.Phase != model.Running || !pod.Networked():
		case pod.Node != node || runs:
			return false
		default:
			runs = true
		}
	}
	return runs
}

// Astray gives the blocks, of those told with their nodes, whose packets from a node go astray.
func Astray(v *model.View, node string, blocks iter.Seq2[netip.Prefix, string]) (out []netip.Prefix) {
	n := v.NodeByName(node)
	if n == nil || !v.Sees(node, model.Links, model.Routes, model.Rules, model.Neighbours) || !modern(v.LinksOn(node)) {
		return nil
	}
	w := newWays(&Pass{View: v, d: PL3007}, n)
	sizes, all := map[int]bool{}, map[netip.Prefix]string{}
	for cidr, of := range blocks {
		was := len(w.faults)
		if w.judge(cidr, of); len(w.faults) > was {
			out = append(out, cidr)
		}
		sizes[cidr.Bits()], all[cidr.Masked()] = true, of
	}
	for _, f := range w.parts {
		for bits := range sizes {
			p, err := f.dst.Addr().Prefix(bits)
			if err != nil || bits >= f.dst.Bits() {
				continue
			}
			if peer := w.peer(all[p]); peer != nil && (f.why != "" || w.fault(f.dst, peer, v.PoolAround(f.dst)).why != "") {
				out = append(out, p)
			}
		}
	}
	slices.SortFunc(out, func(a, b netip.Prefix) int { return a.Addr().Compare(b.Addr()) })
	return slices.Compact(out)
}

// ways are the ways from one node to the others.
type ways struct {
	p       *Pass
	n       *model.Node
	routing *routing
	from    map[bool][]netip.Addr // addresses of pods of the node, by whether they are IPv6
	subnets []netip.Prefix        // of the node's addresses in Calico
	pods    []model.Ref           // running on it
	parts   []fault               // of blocks: what rejects their packets, or may lead them elsewhere (without why), without peer
	faults  []fault
	closed  *closedWays     // nil if all rows are there
	relay   bool            // packets come from another node
	unsaid  map[string]bool // why some are not evaluated
}

// A fault is a way that does not lead to its node.
type fault struct {
	dst   netip.Prefix
	peer  string
	why   string // without dst and peer; empty: there is none
	ref   model.Ref
	since model.Time
}

func newWays(p *Pass, n *model.Node) *ways {
	w := &ways{p: p, n: n, routing: routingOf(p, n.Name), from: map[bool][]netip.Addr{}}
	for pod := range p.PodsOn(n.Name) {
		if pod.Networked() && pod.Phase == model.Running {
			w.pods = append(w.pods, pod.Ref())
			for _, ip := range pod.IPs {
				w.from[ip.Is6()] = append(w.from[ip.Is6()], ip)
			}
		}
	}
	w.subnets = subnetsOf(p, n)
	w.addParts()
	w.closed = w.close()
	return w
}

// peer gives the node to whose pods packets are sent; nil if it is the node itself, or nothing can be
// said of ways to it.
func (w *ways) peer(name string) *farNode {
	f := w.p.far(name)
	if f == nil || f.Name == w.n.Name {
		return nil
	}
	return f
}

// judge follows packets to a block or an address of another node; false if nothing can be said.
func (w *ways) judge(dst netip.Prefix, node string) bool {
	peer := w.peer(node)
	if peer == nil {
		return false
	}
	pool, six := w.p.PoolAround(dst), dst.Addr().Is6()
	switch {
	case pool == nil, len(peer.ips[six]) == 0, !slices.ContainsFunc(w.p.CalicoIPsOf(w.n), func(a netip.Addr) bool { return a.Is6() == six }):
		return false // Felix makes no route then
	case pool.Tunnel != "VXLAN" && !peer.announces:
		return false // BIRD of the others has withdrawn its routes: that is PL4009 or PL4008 of the peer
	}
	if w.closed.has(dst) { // its route is as the records say, or it is said that it is not
		if f := w.beyond(dst, peer, pool); f.why != "" {
			f.dst, f.peer = dst, peer.Name
			w.faults = append(w.faults, f)
		}
		return true
	}
	if f := w.fault(dst, peer, pool); f.why != "" {
		f.dst, f.peer = dst, peer.Name
		w.faults = append(w.faults, f)
	}
	return true
}

func ruleInFront(u *model.Rule) string {
	return fmt.Sprintf("a rule of type %s (priority %d) is in front of the routes", u.Type, u.Priority)
}

func rejects(kind string) bool {
	return kind == "blackhole" || kind == "unreachable" || kind == "prohibit"
}

// report makes one finding of all faults of the node.
func (w *ways) report() {
	if len(w.faults) == 0 {
		return
	}
	slices.SortFunc(w.faults, func(a, b fault) int {
		return cmp.Or(cmp.Compare(a.peer, b.peer), a.dst.Addr().Compare(b.dst.Addr()), cmp.Compare(a.dst.Bits(), b.dst.Bits()), cmp.Compare(a.why, b.why))
	})
	var peers []string // they are sorted
	whys := map[string]bool{}
	for _, f := range w.faults {
		if len(peers) == 0 || peers[len(peers)-1] != f.peer {
			peers = append(peers, f.peer)
		}
		whys[f.why] = true
	}
	first := w.faults[0]
	says := fmt.Sprintf("packets for pods of %s (%s) go astray: %s", first.peer, first.dst, first.why)
	if len(w.faults) > 1 {
		says = fmt.Sprintf("packets for pods of %s (%s) go astray: %s", some(peers), count(len(w.faults), "block or address", "blocks or addresses"), first.why)
		if len(whys) > 1 {
			says += fmt.Sprintf("; %s", count(len(whys)-1, "more cause", "more causes"))
		}
	}
	out := finding.Finding{Subject: w.n.Ref(), About: slices.Clip(w.pods), Summary: says}
	for b := range w.p.BlocksWith(first.dst.Addr()) {
		out.About = append(out.About, b.Ref()) // what is wrong with its pool explains it
	}
	out.Evidence = append(out.Evidence, finding.Evidence{Ref: first.ref, Says: fmt.Sprintf("to %s of %s: %s", first.dst, first.peer, first.why), Since: first.since})
	reportKernel(w.p, w.n.Name, out)
}
