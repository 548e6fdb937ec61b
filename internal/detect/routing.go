package detect

import (
	"cmp"
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/model"
)

// The kernel's numbers of routing tables.
const (
	tableMain  = 254
	tableLocal = 255
)

// A routing is the routing tables of a node, as its kernel uses them for packets of pods.
type routing struct {
	rules  []model.Rule // in the order of the kernel
	tables map[int]*prefixTable
}

// A prefixTable is one routing table: of each prefix the route with the lowest metric.
type prefixTable struct {
	bits   []int // prefix lengths that occur, the longest first
	routes map[netip.Prefix]*model.Route
}

func routingOf(p *Pass, node string) *routing {
	r := &routing{tables: map[int]*prefixTable{}}
	all := p.RoutesOn(node)
	for i := range all {
		if all[i].Table != tableLocal && all[i].Dst.IsValid() {
			r.add(&all[i])
		}
	}
	for _, t := range r.tables {
		slices.SortFunc(t.bits, func(a, b int) int { return cmp.Compare(b, a) })
	}
	if p.Sees(node, model.Rules) {
		r.rules = slices.Clone(p.RulesOn(node))
		slices.SortStableFunc(r.rules, func(a, b model.Rule) int { return cmp.Compare(a.Priority, b.Priority) })
	}
	return r
}

func (r *routing) add(route *model.Route) {
	t := r.tables[route.Table]
	if t == nil {
		t = &prefixTable{routes: map[netip.Prefix]*model.Route{}}
		r.tables[route.Table] = t
	}
	dst := route.Dst.Masked()
	switch was := t.routes[dst]; {
	case was != nil && was.Metric < route.Metric:
		return
	case was != nil && was.Metric == route.Metric: // several next hops, of which none is judged
		route = &model.Route{Dst: dst, Table: route.Table, Metric: route.Metric}
	}
	t.routes[dst] = route
	if !slices.Contains(t.bits, dst.Bits()) {
		t.bits = append(t.bits, dst.Bits())
	}
}

// to gives the route for packets of pods to all of dst: the longest prefix in the first table, by
// the order of rules, that has one. Rules for marked packets, for single interfaces, for some of the
// pods only, and with conditions that were not read are passed over. rule is a rule of type blackhole,
// unreachable or prohibit that ends it.
func (r *routing) to(dst netip.Prefix, from []netip.Addr) (route *model.Route, rule *model.Rule) {
	for i := range r.rules {
		u := &r.rules[i]
		switch {
		case u.IPv6 != dst.Addr().Is6(), u.Other, u.Mark != 0, u.In != "", u.Table == tableLocal:
			continue
		case u.Dst.IsValid() && (u.Dst.Bits() > dst.Bits() || !u.Dst.Contains(dst.Addr())):
			continue
		case u.Src.IsValid() && u.Src.Bits() > 0 && (len(from) == 0 || slices.ContainsFunc(from, func(a netip.Addr) bool { return !u.Src.Contains(a) })):
			continue
		case rejects(u.Type):
			return nil, u
		}
		if found := r.tables[u.Table].longest(dst); found != nil && found.Type != "throw" {
			return found, nil
		}
	}
	if len(r.rules) == 0 {
		return r.tables[tableMain].longest(dst), nil
	}
	return nil, nil
}

// over gives the route over an interface of a kind, in any table; nil if there is none.
func (r *routing) over(dst netip.Prefix, is func(link int) bool) *model.Route {
	for _, t := range r.tables {
		if found := t.longest(dst); found != nil && found.Type == "" && is(found.Link) {
			return found
		}
	}
	return nil
}

// longest gives the route of the longest prefix that contains all of dst.
func (t *prefixTable) longest(dst netip.Prefix) *model.Route {
	if t == nil {
		return nil
	}
	for _, bits := range t.bits {
		if bits > dst.Bits() {
			continue
		}
		if p, err := dst.Addr().Prefix(bits); err == nil && t.routes[p] != nil {
			return t.routes[p]
		}
	}
	return nil
}
