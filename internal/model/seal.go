package model

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"
	"sync"
)

// Seal sorts the rows, derives Allocations, Addresses and missing handles, and builds the
// indices. The view owns the snapshot afterwards: nobody may change it. The result does not
// depend on the order of the rows.
func Seal(s *Snapshot) *View {
	s.sort()
	v := &View{s: s, cover: s.Coverage, coverage: map[string]*[tables]State{}}
	for _, c := range s.Coverage {
		if v.coverage[c.Node] == nil {
			v.coverage[c.Node] = new([tables]State)
		}
		v.coverage[c.Node][c.Table] = c.State
		v.asked = v.asked || c.Node != ""
	}
	// IPAM and the rest take about equally long; they write different fields of v.
	var ipam sync.WaitGroup
	ipam.Go(v.indexIPAM)
	v.indexHosts()     // before indexKubernetes: it sets the tunnels and aliases of nodes
	v.indexNodeState() // before indexKubernetes: claimNodeState uses it
	v.indexKubernetes()
	v.doubtConfigs()
	ipam.Wait()
	v.countUse()
	return v
}

type name struct{ namespace, name string }

func (s *Snapshot) sort() {
	sortBy(s.Pods, func(a, b *Pod) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	sortBy(s.Nodes, func(a, b *Node) int { return cmp.Compare(a.Name, b.Name) })
	sortBy(s.Hosts, func(a, b *Host) int { return cmp.Compare(a.Name, b.Name) })
	sortBy(s.Services, func(a, b *Service) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	sortBy(s.VMs, func(a, b *VM) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	sortBy(s.Components, func(a, b *Component) int { return cmp.Compare(a.Name, b.Name) })
	sortBy(s.Pools, func(a, b *Pool) int { return cmp.Compare(a.Name, b.Name) })
	sortBy(s.Reservations, func(a, b *Reservation) int { return cmp.Compare(a.Name, b.Name) })
	sortBy(s.Blocks, func(a, b *Block) int {
		return cmp.Or(a.CIDR.Addr().Compare(b.CIDR.Addr()), cmp.Compare(a.CIDR.Bits(), b.CIDR.Bits()), cmp.Compare(a.Name, b.Name))
	})
	sortBy(s.Handles, func(a, b *Handle) int { return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Name, b.Name)) })
	sortBy(s.Affinities, func(a, b *Affinity) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), a.CIDR.Addr().Compare(b.CIDR.Addr()), cmp.Compare(a.CIDR.Bits(), b.CIDR.Bits()), cmp.Compare(a.Name, b.Name))
	})
	sortBy(s.Events, func(a, b *Event) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Pod, b.Pod), cmp.Compare(a.First, b.First), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Message, b.Message))
	})
	sortBy(s.Endpoints, func(a, b *Endpoint) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
}

// sortBy sorts large rows by pointer, stably. Most lists are sorted already; a list that
// changes sealed again is sorted but for what was added at its end, which is merged in.
func sortBy[T any](rows []T, by func(a, b *T) int) {
	sorted := min(1, len(rows))
	for sorted < len(rows) && by(&rows[sorted-1], &rows[sorted]) <= 0 {
		sorted++
	}
	if sorted == len(rows) {
		return
	}
	copied := slices.Clone(rows)
	order := make([]*T, len(rows))
	for i := range copied {
		order[i] = &copied[i]
	}
	if len(rows)-sorted > len(rows)/8 {
		slices.SortStableFunc(order, by)
		for i, p := range order {
			rows[i] = *p
		}
		return
	}
	head, tail := order[:sorted], order[sorted:]
	slices.SortStableFunc(tail, by)
	for i := range rows {
		if len(tail) == 0 || len(head) > 0 && by(head[0], tail[0]) <= 0 {
			rows[i], head = *head[0], head[1:]
		} else {
			rows[i], tail = *tail[0], tail[1:]
		}
	}
}

// indexIPAM derives Allocations and builds the indices of blocks, handles, affinities, pools.
// Indices are filled in descending order of rows; see index.add.
func (v *View) indexIPAM() {
	s := v.s
	total := 0
	v.blocks = prefixes{index: newIndex[netip.Prefix](len(s.Blocks))}
	for i := len(s.Blocks) - 1; i >= 0; i-- {
		v.blocks.put(s.Blocks[i].CIDR, i)
		total += len(s.Blocks[i].Held)
	}
	v.allocs = make([]Allocation, 0, total)
	for i := range s.Blocks {
		b := &s.Blocks[i]
		for _, slot := range b.Held {
			if slot[0] < 0 || int(slot[0]) >= Size(b.CIDR, maxBlock) {
				continue // the block is broken, which is PL1004
			}
			v.allocs = append(v.allocs, Allocation{IP: Offset(b.CIDR, slot[0]), Block: int32(i), Ordinal: slot[0], Attr: slot[1]})
		}
	}
	v.allocsByIP = newLean(total, func(i int32) netip.Addr { return v.allocs[i].IP })
	v.allocsByHandle = newLean(total, func(i int32) string { return HandleKey(v.attribute(&v.allocs[i]).Handle) })
	for i := len(v.allocs) - 1; i >= 0; i-- {
		v.allocsByIP.add(v.allocs[i].IP, i)
		if at := v.attribute(&v.allocs[i]); at != nil && at.Handle != "" {
			v.allocsByHandle.add(HandleKey(at.Handle), i)
		}
	}
	for i := range v.allocs {
		if at, home := v.attribute(&v.allocs[i]), s.Blocks[v.allocs[i].Block].Node(); at != nil && at.Node != "" && home != "" && at.Node != home {
			v.borrowed = append(v.borrowed, int32(i))
		}
	}
	v.indexHandles()
	v.affinities = prefixes{index: newIndex[netip.Prefix](len(s.Affinities))}
	for i := len(s.Affinities) - 1; i >= 0; i-- {
		v.affinities.put(s.Affinities[i].CIDR, i)
	}
	v.pools = prefixes{index: newIndex[netip.Prefix](len(s.Pools))}
	for i := len(s.Pools) - 1; i >= 0; i-- {
		v.pools.put(s.Pools[i].CIDR, i)
	}
}

// maxBlock limits the size of a block: Calico's largest is a /20.
const maxBlock = 1 << 12

// HandleKey is equal for all spellings of one handle: Calico cuts the ID at a carriage return
// and names the object in lower case.
func HandleKey(id string) string {
	for i := range len(id) {
		if c := id[i]; c == '\r' || c >= 'A' && c <= 'Z' || c >= 0x80 {
			id, _, _ = strings.Cut(id, "\r")
			return strings.ToLower(id)
		}
	}
	return id // nearly all
}

// indexHandles adds a row for every handle that a block names and that does not exist. It adds
// none if Handles were not read completely.
func (v *View) indexHandles() {
	there := len(v.s.Handles)
	v.handles = newLean(there, func(i int32) string { return HandleKey(v.handle(i).ID) })
	for i := there - 1; i >= 0; i-- {
		v.handles.add(HandleKey(v.s.Handles[i].ID), i)
	}
	if !v.State(Handles, "").Seen() {
		return
	}
	for i := range v.allocs {
		at := v.attribute(&v.allocs[i])
		if at == nil || at.Handle == "" || at.Handle == WindowsHandle {
			continue
		}
		k := HandleKey(at.Handle)
		if _, ok := v.handles.first(k); !ok {
			v.missing = append(v.missing, Handle{ID: at.Handle, Missing: true})
			v.handles.add(k, there+len(v.missing)-1)
		}
	}
}

// indexKubernetes builds the indices of the Kubernetes tables and of endpoints, and derives
// claims and Addresses.
func (v *View) indexKubernetes() {
	s := v.s
	v.pods = newLean(len(s.Pods), func(i int32) name { return name{s.Pods[i].Namespace, s.Pods[i].Name} })
	v.claims = newLean(len(s.Pods)+len(s.Endpoints), func(i int32) netip.Addr { return v.claimed[i].IP })
	for i := len(s.Services) - 1; i >= 0; i-- {
		for _, a := range s.Services[i].IPs {
			v.claim(a, Claim{ByService, int32(i), a})
		}
	}
	v.nodes = newIndex[string](len(s.Nodes))
	v.nodesAt = newIndex[netip.Addr](len(s.Nodes))
	for i := len(s.Nodes) - 1; i >= 0; i-- {
		v.nodes.add(s.Nodes[i].Name, i)
		for _, a := range s.Nodes[i].CalicoIPs {
			v.nodesAt.add(a, i)
		}
		for _, t := range s.Nodes[i].Tunnels {
			v.claim(t.IP, Claim{ByTunnel, int32(i), t.IP})
		}
	}
	for alias, row := range v.aliases {
		if _, ok := v.nodes.first(alias); !ok {
			v.nodes.add(alias, row)
		}
	}
	v.endpointsByPod = newLean(len(s.Endpoints), func(i int32) name { return name{s.Endpoints[i].Namespace, s.Endpoints[i].Pod} })
	for i := len(s.Endpoints) - 1; i >= 0; i-- {
		e := &s.Endpoints[i]
		v.endpointsByPod.add(name{e.Namespace, e.Pod}, i)
		for _, a := range e.IPs {
			v.claim(a, Claim{ByEndpoint, int32(i), a})
		}
	}
	for i := len(s.Pods) - 1; i >= 0; i-- {
		p := &s.Pods[i]
		v.pods.add(name{p.Namespace, p.Name}, i)
		for _, a := range p.Claims() {
			v.claim(a, Claim{ByPod, int32(i), a})
		}
	}
	v.claimNodeState()
	v.orderPods()
	v.vms = newIndex[name](len(s.VMs))
	for i := len(s.VMs) - 1; i >= 0; i-- {
		v.vms.add(name{s.VMs[i].Namespace, s.VMs[i].Name}, i)
	}
	v.services = newIndex[name](len(s.Services))
	for i := len(s.Services) - 1; i >= 0; i-- {
		v.services.add(name{s.Services[i].Namespace, s.Services[i].Name}, i)
	}
	v.events = newIndex[name](len(s.Events))
	for i := len(s.Events) - 1; i >= 0; i-- {
		v.events.add(name{s.Events[i].Namespace, s.Events[i].Pod}, i)
	}
	slices.SortFunc(v.addrs, netip.Addr.Compare)
}

// orderPods fills podsByNode: a sort by counting.
func (v *View) orderPods() {
	place, first := make([]int32, len(v.s.Pods)), make([]int32, len(v.s.Nodes)+2)
	for i := range v.s.Pods {
		if row, ok := v.nodes.first(v.s.Pods[i].Node); ok {
			place[i] = row + 1
		}
		first[place[i]+1]++
	}
	for i := 1; i < len(first); i++ {
		first[i] += first[i-1]
	}
	v.podsByNode = make([]int32, len(v.s.Pods))
	for i := range v.s.Pods {
		v.podsByNode[first[place[i]]] = int32(i)
		first[place[i]]++
	}
}

// claim adds a claim. Invariant: addrs contains an address exactly once if it has a claim.
func (v *View) claim(a netip.Addr, c Claim) {
	if _, ok := v.claims.first(a); !ok {
		v.addrs = append(v.addrs, a)
	}
	v.claims.add(a, len(v.claimed))
	v.claimed = append(v.claimed, c)
}
