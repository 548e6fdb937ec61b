package live

import (
	"net/netip"
	"strings"

	"plumbline.dev/plumbline/internal/model"
)

// An around is a small snapshot in the making: all rows that judging some subjects can ask
// for. Each is put in once.
type around struct {
	s          *Store
	pods       set[model.Pod]
	nodes      set[model.Node]
	hosts      set[model.Host]
	services   set[model.Service]
	vms        set[model.VM]
	events     set[model.Event]
	blocks     set[model.Block]
	handles    set[model.Handle]
	affinities set[model.Affinity]
	endpoints  set[model.Endpoint]
	seen       map[any]struct{} // names and addresses that were followed
	facts      map[string]struct{}
}

type set[T any] struct {
	has  map[*T]struct{}
	rows []*T
}

func (x *set[T]) add(row *T) bool {
	if row == nil {
		return false
	}
	if _, ok := x.has[row]; ok {
		return false
	}
	if x.has == nil {
		x.has = map[*T]struct{}{}
	}
	x.has[row] = struct{}{}
	x.rows = append(x.rows, row)
	return true
}

func (x *set[T]) copied() []T {
	out := make([]T, len(x.rows))
	for i, row := range x.rows {
		out[i] = *row
	}
	return out
}

// first tells that something is asked for the first time.
func (a *around) first(what any) bool {
	if _, ok := a.seen[what]; ok {
		return false
	}
	a.seen[what] = struct{}{}
	return true
}

func (s *Store) around() *around {
	return &around{s: s, seen: map[any]struct{}{}, facts: map[string]struct{}{}}
}

// Around gives a snapshot in which the subjects are judged as they are in the whole
// cluster. Nothing but they may be judged in it.
func (s *Store) Around(subjects map[model.Subject]struct{}, now model.Time) *model.Snapshot {
	a := s.around()
	for sub := range subjects {
		a.subject(sub)
	}
	return a.snapshot(now, s.brief)
}

func (a *around) subject(sub model.Subject) {
	n := sub.Ref.Name
	switch sub.Table {
	case model.Pods:
		a.podJudged(split(n))
	case model.Addresses:
		if ip, err := netip.ParseAddr(n); err == nil {
			a.address(ip)
		}
	case model.Allocations:
		if ip, err := netip.ParseAddr(n); err == nil {
			a.allocation(ip)
		}
	case model.Blocks:
		if c, err := netip.ParsePrefix(n); err == nil {
			a.block(c)
		}
	case model.Handles:
		a.handle(n)
	case model.Affinities:
		node, cidr, _ := strings.Cut(n, "/")
		if c, err := netip.ParsePrefix(cidr); err == nil {
			a.affinity(node, c)
		}
	case model.Endpoints:
		if e := a.s.endpoints[split(n)]; e != nil {
			a.pod(name{e.Namespace, e.Pod}) // and with it all its endpoints
		}
	case model.Nodes:
		a.nodeJudged(n)
	case model.Events:
		a.event(split(n))
	default:
		if node := sub.Ref.OnNode(); node != "" {
			a.nodeWhole(node)
		}
	}
}

// name adds the node that a name means, with all that Calico has of it.
func (a *around) name(n string) {
	if !a.first(owner{model.KindNode, name{"", n}}) {
		return
	}
	a.node(a.s.nodes[n])
	if h := a.s.hosts[n]; h != nil {
		a.hosts.add(h)
		a.node(a.s.nodes[saysNode(h)])
	}
}

func (a *around) node(n *model.Node) {
	if !a.nodes.add(n) {
		return
	}
	for h := range a.s.hostsOf.of(n.Name) {
		a.hosts.add(h)
		a.name(h.Name) // a node of that name has it before the other
	}
}

// pod adds a pod with its endpoints, the nodes that are named, and what its own node says.
func (a *around) pod(k name) {
	if !a.first(owner{model.KindPod, k}) {
		return
	}
	for e := range a.s.endpointsOf.of(k) {
		a.endpoints.add(e)
		a.name(e.Node)
	}
	if p := a.s.pods[k]; a.pods.add(p) {
		a.name(p.Node)
		a.factsOf(p.Node)
	}
}

// podJudged adds as well what the ledger has of its addresses, and what was noted of it.
func (a *around) podJudged(k name) {
	a.pod(k)
	p := a.s.pods[k]
	if p == nil {
		return
	}
	for _, ip := range p.Annotated {
		a.blocksWith(ip)
	}
	for e := range a.s.endpointsOf.of(k) {
		for _, ip := range e.IPs {
			a.blocksWith(ip)
		}
	}
	for e := range a.s.events.of(k) {
		a.events.add(e)
		a.factsOf(e.Node)
	}
	if f := a.s.brief[p.Node]; f != nil && !p.Deleted.IsZero() { // who else waits for a mount
		for i := range f.Mounts {
			a.known(f.Mounts[i].Pods...)
		}
	}
}

// known adds the pods that are known by these UIDs.
func (a *around) known(uids ...string) {
	for _, uid := range uids {
		for p := range a.s.podsKnown.of(uid) {
			a.pod(name{p.Namespace, p.Name})
		}
	}
}

// address adds all who claim it, and the blocks that it lies in.
func (a *around) address(ip netip.Addr) {
	if !a.first(ip) {
		return
	}
	for p := range a.s.podsAt.of(ip) {
		a.pod(name{p.Namespace, p.Name})
	}
	for n := range a.s.tunnels.of(ip) {
		a.name(n)
	}
	for sv := range a.s.servicesAt.of(ip) {
		a.services.add(sv)
	}
	for in := range a.s.inside.of(ip) {
		a.factsOf(in.node)
		if in.box != nil {
			a.known(in.box.UID)
			a.pod(name{in.box.Namespace, in.box.Pod})
		}
	}
	a.blocksWith(ip)
}
