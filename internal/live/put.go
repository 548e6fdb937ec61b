package live

import (
	"fmt"
	"iter"
	"net/netip"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// Put takes one change. The row belongs to the store afterwards.
func (s *Store) Put(c observe.Change) error {
	switch c.Ref.Kind {
	case model.KindPod:
		return put(c, s.putPod)
	case model.KindNode:
		return put(c, s.putNode)
	case model.KindHost:
		return put(c, s.putHost)
	case model.KindService:
		return put(c, s.putService)
	case model.KindVM:
		return put(c, s.putVM)
	case model.KindBlock:
		return put(c, s.putBlock)
	case model.KindHandle:
		return put(c, s.putHandle)
	case model.KindAffinity:
		return put(c, s.putAffinity)
	case model.KindEndpoint:
		return put(c, s.putEndpoint)
	case model.KindPool:
		return put(c, s.putPool)
	case observe.KindReservation:
		return put(c, s.putReservation)
	case model.KindCluster:
		return put(c, func(_ model.Ref, row *model.Info) error { return putOne(s, &s.few.Info, row) })
	case model.KindCollector:
		return put(c, func(_ model.Ref, row *model.GarbageCollectorConfig) error { return putOne(s, &s.few.Collector, row) })
	default:
		return fmt.Errorf("a change of %s is not expected", c.Ref)
	}
}

func put[T any](c observe.Change, as func(model.Ref, *T) error) error {
	if c.Row == nil {
		return as(c.Ref, nil)
	}
	row, ok := c.Row.(*T)
	if !ok {
		return fmt.Errorf("a change of %s has a row of %T", c.Ref, c.Row)
	}
	return as(c.Ref, row)
}

// swap puts a row in the place of another, or takes it away, and gives the one before.
func swap[K comparable, T any](rows map[K]*T, k K, row *T) *T {
	before := rows[k]
	if row == nil {
		delete(rows, k)
	} else {
		rows[k] = row
	}
	return before
}

func (s *Store) putPod(r model.Ref, row *model.Pod) error {
	k := split(r.Name)
	if row != nil {
		k = name{row.Namespace, row.Name}
	}
	old := swap(s.pods, k, row)
	s.touch(model.KindPod, k.String())
	if old != nil && row != nil && samePod(old, row) {
		*old = *row // nothing that finds it, or is judged by, is another
		s.pods[k] = old
		return nil
	}
	if old != nil {
		for _, a := range old.Claims() {
			s.podsAt.remove(a, old)
		}
		s.podsOn.remove(old.Node, old)
		for _, uid := range []string{old.UID, old.Static} {
			s.podsKnown.remove(uid, old)
		}
		s.written -= count(old.Annotation == model.Written)
	}
	if row != nil {
		for _, a := range row.Claims() {
			s.podsAt.add(a, row)
		}
		s.podsOn.add(row.Node, row)
		for _, uid := range []string{row.UID, row.Static} {
			if uid != "" {
				s.podsKnown.add(uid, row)
			}
		}
		s.written += count(row.Annotation == model.Written)
	}
	s.wakePod(k, old)
	s.wakePod(k, row)
	return nil
}

func (s *Store) putNode(r model.Ref, row *model.Node) error {
	n := r.Name
	if row != nil {
		n = row.Name
	}
	old := swap(s.nodes, n, row)
	s.touch(model.KindNode, n)
	if old != nil && row != nil && sameNode(old, row) {
		return nil
	}
	if old != nil {
		for _, t := range old.Tunnels {
			s.tunnels.remove(t.IP, n)
			s.wakeClaim(t.IP)
		}
	}
	if row != nil {
		for _, t := range row.Tunnels {
			s.tunnels.add(t.IP, n)
		}
	}
	for a := range s.tunnelsOf(n) { // what Calico's hosts say may be the same
		s.tunnels.add(a, n)
		s.wakeClaim(a)
	}
	s.wakeNode(n)
	return nil
}

func (s *Store) putHost(r model.Ref, row *model.Host) error {
	n := r.Name
	if row != nil {
		n = row.Name
	}
	old := swap(s.hosts, n, row)
	if old != nil {
		s.hostsOf.remove(saysNode(old), old)
		for _, t := range old.Tunnels {
			s.tunnels.remove(t.IP, saysNode(old))
		}
	}
	if row != nil {
		s.hostsOf.add(saysNode(row), row)
	}
	for _, h := range []*model.Host{old, row} {
		if h == nil {
			continue
		}
		for a := range s.tunnelsOf(saysNode(h)) {
			s.tunnels.add(a, saysNode(h))
			s.wakeClaim(a)
		}
		for _, t := range h.Tunnels {
			s.wakeClaim(t.IP)
		}
		s.wakeNode(saysNode(h))
	}
	s.wakeNode(n)
	return nil
}

// tunnelsOf gives the tunnels that a node says it has, and that hosts say it has: one of
// the two is right, and which is seen when a snapshot is sealed.
func (s *Store) tunnelsOf(node string) iter.Seq[netip.Addr] {
	return func(yield func(netip.Addr) bool) {
		if n := s.nodes[node]; n != nil {
			for _, t := range n.Tunnels {
				if !yield(t.IP) {
					return
				}
			}
		}
		for h := range s.hostsOf.of(node) {
			for _, t := range h.Tunnels {
				if !yield(t.IP) {
					return
				}
			}
		}
	}
}

// saysNode is the node that a host says it is.
func saysNode(h *model.Host) string {
	if h.Kubernetes != "" {
		return h.Kubernetes
	}
	return h.Name
}

func (s *Store) putService(r model.Ref, row *model.Service) error {
	k := split(r.Name)
	if row != nil {
		k = name{row.Namespace, row.Name}
	}
	old := swap(s.services, k, row)
	s.touch(model.KindService, k.String())
	if old != nil {
		for _, a := range old.IPs {
			s.servicesAt.remove(a, old)
			s.wakeClaim(a)
		}
	}
	if row != nil {
		for _, a := range row.IPs {
			s.servicesAt.add(a, row)
			s.wakeClaim(a)
		}
	}
	s.wakeNamed(owner{model.KindService, k})
	return nil
}

func (s *Store) putVM(r model.Ref, row *model.VM) error {
	k := split(r.Name)
	if row != nil {
		k = name{row.Namespace, row.Name}
	}
	swap(s.vms, k, row)
	s.touch(model.KindVM, k.String())
	s.wakeNamed(owner{model.KindVM, k})
	return nil
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
