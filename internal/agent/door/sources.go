package door

import (
	"net/netip"
	"sync"
	"time"
)

// What callers from one address may cause. Whoever uses the API server's proxy comes from the
// API server's address; a pod that reaches the node comes from its own, and must not use up
// what the others need.
const (
	perSecond  = 1.0 // token reviews
	maxBurst   = 30.0
	maxReviews = 4    // at a time
	maxSources = 4096 // addresses that are remembered
)

// sources are the budgets of the addresses that callers come from.
type sources struct {
	now func() time.Time

	mu sync.Mutex
	by map[netip.Addr]*budget
}

// A budget is what one address has left.
type budget struct {
	credit  float64
	last    time.Time
	reviews int // in progress
}

func newSources(now func() time.Time) *sources {
	return &sources{now: now, by: map[netip.Addr]*budget{}}
}

// review takes one token review from the budget of an address; done ends it.
func (s *sources) review(from netip.Addr) (done func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	b := s.by[from]
	if b == nil {
		if len(s.by) >= maxSources {
			s.forget(now)
		}
		if len(s.by) >= maxSources {
			return nil, false // so many addresses at a time are no callers
		}
		b = &budget{credit: maxBurst, last: now}
		s.by[from] = b
	}
	b.credit, b.last = b.at(now), now
	if b.credit < 1 || b.reviews == maxReviews {
		return nil, false
	}
	b.credit--
	b.reviews++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		b.reviews--
	}, true
}

func (b *budget) at(now time.Time) float64 {
	return min(maxBurst, b.credit+max(0, now.Sub(b.last).Seconds())*perSecond)
}

// forget drops the addresses whose budget is full again.
func (s *sources) forget(now time.Time) {
	for from, b := range s.by {
		if b.reviews == 0 && b.at(now) == maxBurst {
			delete(s.by, from)
		}
	}
}

// sourceOf is the address of a connection's peer; of IPv6 its /64, of which one machine has all.
func sourceOf(remote string) netip.Addr {
	at, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Addr{}
	}
	ip := at.Addr().Unmap().WithZone("")
	if ip.Is6() {
		p, _ := ip.Prefix(64)
		return p.Addr()
	}
	return ip
}
