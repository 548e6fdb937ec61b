package model

import (
	"net/netip"
	"slices"
	"strings"
)

// A Subject is a row of a table, by its name: it can be found in another snapshot, where it
// has another row number.
type Subject struct {
	Table Table `json:"table"`
	Ref   Ref   `json:"ref"`
}

// Find returns the rows of a subject, ascending; several rows may have the same name.
func (v *View) Find(s Subject) []int32 {
	switch s.Table {
	case Pods:
		return one(v.pods.first(splitName(s.Ref.Name)))
	case Services:
		return one(v.services.first(splitName(s.Ref.Name)))
	case Nodes:
		return one(v.nodes.first(s.Ref.Name))
	case Events:
		return slices.Collect(v.events.rows(splitName(s.Ref.Name)))
	case Handles:
		return slices.Collect(v.handles.rows(HandleKey(s.Ref.Name)))
	case Allocations:
		if a, err := netip.ParseAddr(s.Ref.Name); err == nil {
			return slices.Collect(v.allocsByIP.rows(a))
		}
	case Addresses:
		if a, err := netip.ParseAddr(s.Ref.Name); err == nil {
			if i, ok := slices.BinarySearchFunc(v.addrs, a, netip.Addr.Compare); ok {
				return []int32{int32(i)}
			}
		}
	case Blocks:
		if p, err := netip.ParsePrefix(s.Ref.Name); err == nil {
			return slices.Collect(v.blocks.rows(p.Masked()))
		}
	case Affinities:
		return v.findAffinity(s.Ref.Name)
	case Endpoints:
		return search(v.s.Endpoints, s.Ref, (*Endpoint).Ref)
	case Pools:
		return search(v.s.Pools, s.Ref, (*Pool).Ref)
	case Cluster, Components:
		return allRows(v.Rows(s.Table))
	default:
		return v.findOnNode(s)
	}
	return nil
}

// RefOf is the ref of a row.
func (v *View) RefOf(t Table, i int32) Ref {
	switch t {
	case Pods:
		return v.s.Pods[i].Ref()
	case Nodes:
		return v.s.Nodes[i].Ref()
	case Events:
		return v.s.Events[i].Ref()
	case Services:
		return v.s.Services[i].Ref()
	case Pools:
		return v.s.Pools[i].Ref()
	case Blocks:
		return v.s.Blocks[i].Ref()
	case Handles:
		return v.handle(i).Ref()
	case Affinities:
		return v.s.Affinities[i].Ref()
	case Endpoints:
		return v.s.Endpoints[i].Ref()
	case Allocations:
		return v.allocs[i].Ref()
	case Addresses:
		return Ref{KindAddress, v.addrs[i].String()}
	default:
		return v.nodeRef(t, i)
	}
}

func (v *View) findAffinity(full string) []int32 {
	node, cidr, _ := strings.Cut(full, "/")
	p, err := netip.ParsePrefix(cidr)
	if err != nil {
		return nil
	}
	var out []int32
	for row := range v.affinities.rows(p.Masked()) {
		if v.s.Affinities[row].Node == node {
			out = append(out, row)
		}
	}
	return out
}

// search scans a table: only for small tables, or for single look-ups.
func search[T any](rows []T, r Ref, ref func(*T) Ref) []int32 {
	for i := range rows {
		if ref(&rows[i]) == r {
			return []int32{int32(i)}
		}
	}
	return nil
}

func one(row int32, ok bool) []int32 {
	if !ok {
		return nil
	}
	return []int32{row}
}

func allRows(n int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = int32(i)
	}
	return out
}

func splitName(s string) name {
	ns, n, _ := strings.Cut(s, "/")
	return name{ns, n}
}
