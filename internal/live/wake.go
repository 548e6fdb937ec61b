package live

import (
	"net/netip"

	"plumbline.dev/plumbline/internal/model"
)

// What a changed row can make another of. Too much costs a little time; too little hides a
// fault until all is judged anew.

func (s *Store) wake(t model.Table, k model.Kind, n string) {
	if s.woken != nil {
		s.woken[model.Subject{Table: t, Ref: model.Ref{Kind: k, Name: n}}] = struct{}{}
	}
}

// touch notes that a row is another: what rests on it is judged again, if only to be
// dated by it.
func (s *Store) touch(k model.Kind, n string) {
	if s.woken != nil {
		s.touched[model.Ref{Kind: k, Name: n}] = struct{}{}
	}
}

func (s *Store) wakeAddress(a netip.Addr) { s.wake(model.Addresses, model.KindAddress, a.String()) }

func (s *Store) wakeAllocation(a netip.Addr) {
	s.wake(model.Allocations, model.KindAddress, a.String())
}

func (s *Store) wakeBlock(c netip.Prefix) {
	s.wake(model.Blocks, model.KindBlock, c.Masked().String())
}

func (s *Store) wakeAffinity(a *model.Affinity) {
	s.wake(model.Affinities, model.KindAffinity, a.Node+"/"+a.CIDR.Masked().String())
}

// wakeClaim: who says that the address is his is another. What one handle holds lives or
// dies together.
func (s *Store) wakeClaim(a netip.Addr) {
	if s.woken == nil {
		return
	}
	s.wakeAddress(a)
	s.wakeAllocation(a)
	for b := range s.blocksWith(a) {
		for at := range attributesOf(b, a) {
			s.wakeHeld(model.HandleKey(at.Handle))
		}
	}
}

// wakeHeld wakes all that a handle holds.
func (s *Store) wakeHeld(handle string) {
	for b := range s.blocksHeld.of(handle) {
		for a, at := range allocations(b.Block) {
			if at != nil && model.HandleKey(at.Handle) == handle {
				s.wakeAllocation(a)
			}
		}
	}
}

// wakeNamed wakes the allocations that name an owner.
func (s *Store) wakeNamed(o owner) {
	if s.woken == nil {
		return
	}
	for b := range s.blocksFor.of(o) {
		for a, at := range allocations(b.Block) {
			if at != nil && ownedBy(at, o) {
				s.wakeAllocation(a)
				if o.kind == model.KindNode { // the ledger may have it for a tunnel
					s.wakeTunnelAt(a)
				}
			}
		}
	}
}

func (s *Store) wakeTunnelAt(a netip.Addr) {
	for n := range s.tunnels.of(a) {
		s.wake(model.Nodes, model.KindNode, n)
	}
}

// wakePod is called with the pod as it was and as it is.
func (s *Store) wakePod(k name, p *model.Pod) {
	if s.woken == nil {
		return
	}
	s.wake(model.Pods, model.KindPod, k.String())
	s.wakeNamed(owner{model.KindPod, k})
	for e := range s.endpointsOf.of(k) {
		s.wake(model.Endpoints, model.KindEndpoint, e.Namespace+"/"+e.Name)
	}
	for a := range s.insideOf.of(k) {
		s.wakeAddress(a)
	}
	if p == nil {
		return
	}
	for _, a := range p.Claims() {
		s.wakeClaim(a)
	}
	for _, uid := range []string{p.UID, p.Static} {
		for a := range s.insideUID.of(uid) {
			s.wakeAddress(a)
		}
	}
	s.wakeMounts(p)
}

// wakeMounts: who waits for a silent mount tells how many others use it.
func (s *Store) wakeMounts(p *model.Pod) {
	f := s.brief[p.Node]
	if f == nil {
		return
	}
	for i := range f.Mounts {
		if !f.Mounts[i].Silent {
			continue
		}
		for _, uid := range f.Mounts[i].Pods {
			for other := range s.podsKnown.of(uid) {
				s.wake(model.Pods, model.KindPod, other.Namespace+"/"+other.Name)
			}
		}
	}
}

func (s *Store) wakeEndpoint(e *model.Endpoint) {
	if s.woken == nil {
		return
	}
	s.wake(model.Endpoints, model.KindEndpoint, e.Namespace+"/"+e.Name)
	for _, a := range e.IPs {
		s.wakeAddress(a)
	}
	k := name{e.Namespace, e.Pod}
	s.wakeNamed(owner{model.KindPod, k})
	s.wakeSeat(k)
}

// wakeSeat wakes a pod and the addresses that it claims.
func (s *Store) wakeSeat(k name) {
	p := s.pods[k]
	if p == nil {
		return
	}
	s.wake(model.Pods, model.KindPod, k.String())
	for _, a := range p.Claims() {
		s.wakeAddress(a)
		s.wakeAllocation(a)
	}
}

// wakeNode wakes all that is on a node, by whichever of its names.
func (s *Store) wakeNode(node string) {
	if s.woken == nil {
		return
	}
	all := []string{node}
	for h := range s.hostsOf.of(node) {
		all = append(all, h.Name)
	}
	for _, n := range all {
		s.wake(model.Nodes, model.KindNode, n)
		for p := range s.podsOn.of(n) {
			s.wakeSeat(name{p.Namespace, p.Name})
			for e := range s.endpointsOf.of(name{p.Namespace, p.Name}) {
				s.wake(model.Endpoints, model.KindEndpoint, e.Namespace+"/"+e.Name)
			}
		}
		s.wakeNamed(owner{model.KindNode, name{"", n}})
		for b := range s.blocksFor.of(owner{model.KindAffinity, name{"", n}}) {
			s.wakeBlock(b.CIDR)
		}
		for a := range s.affinityOf.of(n) {
			s.wakeAffinity(a)
		}
		for e := range s.endpointsOn.of(n) {
			s.wakeEndpoint(e)
		}
	}
}

// wakeUse: how much a node has of its own matters where it is kept to that.
func (s *Store) wakeUse(node string) {
	if len(s.few.Info) == 0 || !s.few.Info[0].StrictAffinity {
		return
	}
	s.wake(model.Nodes, model.KindNode, node)
	if h := s.hosts[node]; h != nil {
		s.wake(model.Nodes, model.KindNode, saysNode(h))
	}
}
