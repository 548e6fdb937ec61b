package live

import (
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/model"
)

func (s *Store) putHandle(r model.Ref, row *model.Handle) error {
	id := r.Name
	if row != nil {
		id = row.ID
	}
	old := s.handles[id]
	if old != nil && row != nil && old.Name != row.Name {
		return fmt.Errorf("handles %s and %s: %w", old.Name, row.Name, ErrDoubled)
	}
	swap(s.handles, id, row)
	s.touch(model.KindHandle, id)
	k := model.HandleKey(id)
	if old != nil {
		s.handlesAt.remove(k, old)
	}
	if row != nil {
		s.handlesAt.add(k, row)
	}
	s.wake(model.Handles, model.KindHandle, k)
	return nil
}

func (s *Store) putAffinity(r model.Ref, row *model.Affinity) error {
	id := r.Name
	if row != nil {
		id = row.Ref().Name
	}
	old := s.affinities[id]
	if old != nil && row != nil && old.Name != row.Name {
		return fmt.Errorf("affinities %s and %s: %w", old.Name, row.Name, ErrDoubled)
	}
	swap(s.affinities, id, row)
	s.anew = s.anew || row != nil && !row.CIDR.IsValid() // nothing finds it
	s.touch(model.KindAffinity, id)
	if old != nil {
		s.affinityAt.remove(old.CIDR.Masked(), old)
		s.affinityOf.remove(old.Node, old)
		s.wakeAffinity(old)
		s.wakeBlock(old.CIDR)
	}
	if row != nil {
		s.affinityAt.add(row.CIDR.Masked(), row)
		s.affinityOf.add(row.Node, row)
		s.wakeAffinity(row)
		s.wakeBlock(row.CIDR)
	}
	return nil
}

func (s *Store) putEndpoint(r model.Ref, row *model.Endpoint) error {
	k := split(r.Name)
	if row != nil {
		k = name{row.Namespace, row.Name}
	}
	old := swap(s.endpoints, k, row)
	s.touch(model.KindEndpoint, k.String())
	if old != nil {
		s.endpointsOf.remove(name{old.Namespace, old.Pod}, old)
		s.endpointsOn.remove(old.Node, old)
		for _, a := range old.IPs {
			s.endpointsAt.remove(a, old)
		}
		s.wakeEndpoint(old)
	}
	if row != nil {
		s.endpointsOf.add(name{row.Namespace, row.Pod}, row)
		s.endpointsOn.add(row.Node, row)
		for _, a := range row.IPs {
			s.endpointsAt.add(a, row)
		}
		s.wakeEndpoint(row)
	}
	return nil
}

// putPool: what all addresses are of may be another now.
func (s *Store) putPool(r model.Ref, row *model.Pool) error {
	n := r.Name
	if row != nil {
		n = row.Name
	}
	s.few.Pools = slices.DeleteFunc(slices.Clone(s.few.Pools), func(p model.Pool) bool { return p.Name == n })
	if row != nil {
		s.few.Pools = append(s.few.Pools, *row)
	}
	slices.SortFunc(s.few.Pools, func(a, b model.Pool) int { return strings.Compare(a.Name, b.Name) })
	clear(s.poolUse)
	for _, b := range s.blocks {
		s.use(b.Block, 1, s.poolUse, nil)
	}
	s.anew = true
	return nil
}

// use adds a block to what is used of its pool and of its node, or takes it away.
func (s *Store) use(b *model.Block, n int, pools, nodes map[string]model.Usage) {
	if p := s.poolAround(b.CIDR); p != nil && pools != nil {
		pools[p.Name] = pools[p.Name].Add(b.UseOf(), n)
		s.wake(model.Pools, model.KindPool, p.Name)
	}
	if node := b.Node(); node != "" && nodes != nil {
		nodes[node] = nodes[node].Add(b.UseOf(), n)
		if nodes[node] == (model.Usage{}) {
			delete(nodes, node)
		}
		s.wakeUse(node)
	}
}

// poolAround gives the smallest pool around a range, of equal ones the first by name.
func (s *Store) poolAround(c netip.Prefix) *model.Pool {
	var found *model.Pool
	for i := range s.few.Pools {
		p := &s.few.Pools[i]
		if !c.IsValid() || !p.CIDR.IsValid() || p.CIDR.Bits() > c.Bits() || !p.CIDR.Contains(c.Addr()) {
			continue
		}
		if found == nil || p.CIDR.Bits() > found.CIDR.Bits() {
			found = p
		}
	}
	return found
}

// putReservation: no detector asks for them.
func (s *Store) putReservation(r model.Ref, row *model.Reservation) error {
	n := r.Name
	if row != nil {
		n = row.Name
	}
	s.few.Reservations = slices.DeleteFunc(slices.Clone(s.few.Reservations), func(o model.Reservation) bool { return o.Name == n })
	if row != nil {
		s.few.Reservations = append(s.few.Reservations, *row)
	}
	return nil
}

// putOne puts a row that there is one of, and that everything rests on.
func putOne[T any](s *Store, rows *[]T, row *T) error {
	var now []T
	if row != nil {
		now = []T{*row}
	}
	if !reflect.DeepEqual(*rows, now) && len(*rows)+len(now) > 0 {
		*rows, s.anew = now, true
	}
	return nil
}
