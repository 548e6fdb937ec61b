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
	ShadowedBy: []finding.Code{finding.PL4008},
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
	if slices.ContainsFunc(p.Snapshot().Pools, func(l model.Pool) bool { return l.Tunnel != "" && l.Mode == "" }) {
		p.untold[olderPools] = append(p.untold[olderPools], n.Name)
	}
	w := newWays(p, n)
	for i := range int32(p.Rows(model.Blocks)) {
		if b := p.Block(i); !b.Deleted {
			w.judge(b.CIDR, b.Node())
			for _, f := range w.inFront(b.CIDR, b.Node()) {
				if inUse(b, f.dst) {
					w.faults = append(w.faults, f)
				}
			}
		}
	}
	for a := range p.Borrowed() {
		w.judge(netip.PrefixFrom(a.IP, a.IP.BitLen()), p.AttributeOf(a).Node)
	}
	w.report()
}

// bpfForwards is said of nodes whose packets take other ways than the kernel's routes.
const bpfForwards = "the eBPF data plane forwards, whose maps are not read,"

// olderPools is said of bundles that older versions made.
const olderPools = "which packets must take a tunnel is not recorded,"

// Astray gives the blocks, of those told with their nodes, whose packets from a node go astray.
func Astray(v *model.View, node string, blocks iter.Seq2[netip.Prefix, string]) (out []netip.Prefix) {
	n := v.NodeByName(node)
	if n == nil || !v.Sees(node, model.Links, model.Routes, model.Rules, model.Neighbours) {
		return nil
	}
	w := newWays(&Pass{View: v, d: PL3007}, n)
	for cidr, of := range blocks {
		was := len(w.faults)
		w.judge(cidr, of)
		if len(w.faults) > was || len(w.inFront(cidr, of)) > 0 {
			out = append(out, cidr)
		}
	}
	return out
}

// ways are the ways from one node to the others.
type ways struct {
	p       *Pass
	n       *model.Node
	routing *routing
	from    map[bool]netip.Addr // an address of a pod of the node, by whether it is IPv6
	pods    []model.Ref         // running on it
	rejects []fault             // what rejects packets, without peer
	faults  []fault
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
	w := &ways{p: p, n: n, routing: routingOf(p, n.Name), from: map[bool]netip.Addr{}}
	for pod := range p.PodsOn(n.Name) {
		if pod.Networked() && pod.Phase == model.Running {
			w.pods = append(w.pods, pod.Ref())
			for _, ip := range pod.IPs {
				w.from[ip.Is6()] = ip
			}
		}
	}
	w.addRejecting()
	return w
}

// peer gives the node to whose pods packets are sent; nil if it is the node itself, or nothing is
// known of it.
func (w *ways) peer(name string) *model.Node {
	peer := w.p.NodeByName(name)
	if name == "" || peer == nil || peer.Name == w.n.Name || peer.OS == "windows" || peer.Virtual() {
		return nil
	}
	return peer
}

// judge follows packets to a block or an address of another node.
func (w *ways) judge(dst netip.Prefix, node string) {
	peer := w.peer(node)
	if peer == nil {
		return
	}
	pool := w.p.PoolAround(dst)
	ips := slices.DeleteFunc(slices.Clone(w.p.CalicoIPsOf(peer)), func(a netip.Addr) bool { return a.Is6() != dst.Addr().Is6() })
	if pool == nil || len(ips) == 0 {
		return // Felix makes no route then
	}
	if f := w.fault(dst, peer, pool, ips); f.why != "" {
		f.dst, f.peer = dst, peer.Name
		w.faults = append(w.faults, f)
	}
}

// inFront finds what rejects packets to a part of a block of another node.
func (w *ways) inFront(cidr netip.Prefix, node string) (out []fault) {
	for _, f := range w.rejects {
		if f.dst.Bits() <= cidr.Bits() || !cidr.Contains(f.dst.Addr()) {
			continue
		}
		if peer := w.peer(node); peer != nil {
			f.peer = peer.Name
			out = append(out, f)
		}
	}
	return out
}

// inUse reports whether an address in a prefix of the block is a pod's, and its block's node's own: each
// other one has a route by itself.
func inUse(b *model.Block, dst netip.Prefix) bool {
	for _, slot := range b.Held {
		if slot[0] >= 0 && slot[1] >= 0 && int(slot[1]) < len(b.Attributes) && dst.Contains(model.Offset(b.CIDR, slot[0])) {
			if at := &b.Attributes[slot[1]]; at.Pod != "" && (at.Node == "" || at.Node == b.Node()) {
				return true
			}
		}
	}
	return false
}

// addRejecting notes routes and rules that reject packets to their destinations.
func (w *ways) addRejecting() {
	all := w.p.RoutesOn(w.n.Name)
	for i := range all {
		if r := &all[i]; r.Table == tableMain && rejects(r.Type) {
			w.rejects = append(w.rejects, fault{dst: r.Dst, why: "a route of type " + r.Type + " is in front of the way to their block", ref: w.n.Ref(), since: r.Since})
		}
	}
	for i := range w.routing.rules {
		if u := &w.routing.rules[i]; u.Type != "" && !u.Other && u.Mark == 0 && u.In == "" && u.Dst.IsValid() && (!u.Src.IsValid() || u.Src.Bits() == 0) {
			w.rejects = append(w.rejects, fault{dst: u.Dst, why: ruleInFront(u), ref: w.n.Ref(), since: u.Since})
		}
	}
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
	var peers, whys []string
	for _, f := range w.faults {
		if !slices.Contains(peers, f.peer) {
			peers = append(peers, f.peer)
		}
		if !slices.Contains(whys, f.why) {
			whys = append(whys, f.why)
		}
	}
	first := w.faults[0]
	says := fmt.Sprintf("packets for pods of %s (%s) go astray: %s", first.peer, first.dst, first.why)
	if len(w.faults) > 1 {
		says = fmt.Sprintf("packets for pods of %s (%s) go astray: %s", some(peers), count(len(w.faults), "block or address", "blocks or addresses"), first.why)
		if len(whys) > 1 {
			says += fmt.Sprintf("; %s", count(len(whys)-1, "more cause", "more causes"))
		}
	}
	out := finding.Finding{Subject: w.n.Ref(), About: w.pods, Summary: says}
	for _, f := range w.faults[:min(len(w.faults), 5)] {
		out.Evidence = append(out.Evidence, finding.Evidence{Ref: f.ref, Says: fmt.Sprintf("to %s of %s: %s", f.dst, f.peer, f.why), Since: f.since})
	}
	reportKernel(w.p, w.n.Name, out)
}
