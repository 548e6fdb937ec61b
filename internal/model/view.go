package model

import (
	"iter"
	"net/netip"
)

// A View is a sealed snapshot with its indices. Rows and indices never change after Seal;
// so several views may share them (Aside, Under). Each view records
// which tables were read through it, so that a test can compare that with what a detector
// declares; this makes one view usable by one goroutine only.
type View struct {
	s        *Snapshot
	cover    []Coverage                // how completely each table was read
	coverage map[string]*[tables]State // the same by node, the cluster's own under ""; nil: Unread
	touched  [tables]bool              // tables read since the last call of Touched

	allocs  []Allocation // rows of Allocations, in the order of blocks and of their Held lists
	addrs   []netip.Addr // rows of Addresses: every claimed address once, sorted
	claimed []Claim      // rows of the index claims
	missing []Handle     // handles that only allocations name; row i is len(s.Handles)+i of Handles

	// The indices return rows in ascending order. A key without rows means that the row does
	// not exist, which proves something only if State of the table is Seen.
	pods           index[name]
	nodesAt        index[netip.Addr] // by their addresses in Calico
	nodes          index[string]     // by Kubernetes' name, and by Calico's where no node has that name
	services       index[name]
	vms            index[name]
	claims         index[netip.Addr]
	blocks         prefixes
	allocsByIP     index[netip.Addr]
	allocsByHandle index[string] // by HandleKey
	borrowed       []int32       // rows of allocs
	handles        index[string] // by HandleKey
	affinities     prefixes
	endpointsByPod index[name]
	pools          prefixes
	poolUse        []Usage              // by row of Pools
	nodeUse        map[nodeFamily]Usage // by Calico's node name
	strangers      map[string]bool      // Calico nodes that are no node of this cluster
	aliases        map[string]int       // rows of Nodes, by Calico's names for them
	events         index[name]
	podsByNode     []int32 // rows of Pods, by row of their node, those without one first
	poduse         poduse  // built on first use; a copy made by Aside builds its own
	nodeIndex      nodeIndex
	asked          bool // there is coverage of a node table: agents are installed
}

// A Claimer is the kind of object that claims an address.
type Claimer uint8

// The claimers.
const (
	ByPod Claimer = iota
	ByEndpoint
	ByTunnel
	ByService
	BySandbox // an interface in a network namespace that is in use
)

// A Claim is that an object claims an address.
type Claim struct {
	By  Claimer
	Row int32 // of Pods, Endpoints, Nodes, Services or Attachments, according to By
	IP  netip.Addr
}

// Snapshot returns the rows. They must not be changed.
func (v *View) Snapshot() *Snapshot { return v.s }

// Touched lists the tables that were read since the last call.
func (v *View) Touched() []Table {
	var out []Table
	for t, yes := range v.touched {
		if yes {
			out = append(out, Table(t))
		}
	}
	v.touched = [tables]bool{}
	return out
}

// Aside returns a view of the same rows for another goroutine. When that is done, Join adds
// the tables that were read.
func (v *View) Aside() *View {
	w := *v
	w.touched = [tables]bool{}
	return &w
}

// Join adds the tables that were read through w, a result of Aside.
func (v *View) Join(w *View) {
	for t, yes := range w.touched {
		v.touched[t] = v.touched[t] || yes
	}
}

// State tells how completely a table was seen; node is empty but for a node's own tables.
func (v *View) State(t Table, node string) State {
	if states := v.coverage[node]; states != nil {
		return states[t]
	}
	return Unread
}

// Coverage lists how completely each table was read. It differs from the snapshot's own where
// tables contradict each other.
func (v *View) Coverage() []Coverage { return v.cover }

// Under returns a view of s, which must have the same rows as the view's snapshot; only
// Meta may differ.
func (v *View) Under(s *Snapshot) *View {
	w := *v
	w.s = s
	return &w
}

// Rows is the number of subjects of a table.
func (v *View) Rows(t Table) int {
	switch t {
	case Pods:
		return len(v.s.Pods)
	case Nodes:
		return len(v.s.Nodes)
	case Services:
		return len(v.s.Services)
	case Cluster:
		return len(v.s.Info)
	case Components:
		return len(v.s.Components)
	case Pools:
		return len(v.s.Pools)
	case Blocks:
		return len(v.s.Blocks)
	case Handles:
		return len(v.s.Handles) + len(v.missing)
	case Affinities:
		return len(v.s.Affinities)
	case Endpoints:
		return len(v.s.Endpoints)
	case Events:
		return len(v.s.Events)
	case Allocations:
		return len(v.allocs)
	case Addresses:
		return len(v.addrs)
	default:
		return v.nodeRows(t)
	}
}

// InOrder yields the subjects of a table: pods by node, so that what is looked up for one is
// near what was looked up for the one before; others by row.
func (v *View) InOrder(t Table) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for i := range int32(v.Rows(t)) {
			if t == Pods {
				i = v.podsByNode[i]
			}
			if !yield(i) {
				return
			}
		}
	}
}

func at[T any](v *View, t Table, rows []T, i int32) *T {
	v.touched[t] = true
	return &rows[i]
}

func find[T any, K comparable](v *View, t Table, rows []T, x *index[K], k K) *T {
	v.touched[t] = true
	i, ok := x.first(k)
	if !ok {
		return nil
	}
	return &rows[i]
}

func each[T any](v *View, t Table, rows []T, found iter.Seq[int32]) iter.Seq[*T] {
	v.touched[t] = true
	return func(yield func(*T) bool) {
		for i := range found {
			if !yield(&rows[i]) {
				return
			}
		}
	}
}

// Pod is a row of Pods.
func (v *View) Pod(i int32) *Pod { return at(v, Pods, v.s.Pods, i) }

// Event is a row of Events.
func (v *View) Event(i int32) *Event { return at(v, Events, v.s.Events, i) }

// Node is a row of Nodes.
func (v *View) Node(i int32) *Node { return at(v, Nodes, v.s.Nodes, i) }

// Service is a row of Services.
func (v *View) Service(i int32) *Service { return at(v, Services, v.s.Services, i) }

// Component is a row of Components.
func (v *View) Component(i int32) *Component { return at(v, Components, v.s.Components, i) }

// Pool is a row of Pools.
func (v *View) Pool(i int32) *Pool { return at(v, Pools, v.s.Pools, i) }

// Block is a row of Blocks.
func (v *View) Block(i int32) *Block { return at(v, Blocks, v.s.Blocks, i) }

// Handle is a row of Handles.
func (v *View) Handle(i int32) *Handle {
	v.touched[Handles] = true
	return v.handle(i)
}

func (v *View) handle(i int32) *Handle {
	if n := len(v.s.Handles); int(i) >= n {
		return &v.missing[int(i)-n]
	}
	return &v.s.Handles[i]
}

// Affinity is a row of Affinities.
func (v *View) Affinity(i int32) *Affinity { return at(v, Affinities, v.s.Affinities, i) }

// Endpoint is a row of Endpoints.
func (v *View) Endpoint(i int32) *Endpoint { return at(v, Endpoints, v.s.Endpoints, i) }

// Allocation is a row of Allocations.
func (v *View) Allocation(i int32) *Allocation { return at(v, Allocations, v.allocs, i) }

// Address is a row of Addresses: a claimed address.
func (v *View) Address(i int32) netip.Addr { return *at(v, Addresses, v.addrs, i) }

// Info is the cluster row; never nil. Without one, the datastore counts as ready.
func (v *View) Info() *Info {
	v.touched[Cluster] = true
	if len(v.s.Info) == 0 {
		return &Info{Ready: true}
	}
	return &v.s.Info[0]
}

// Collector is the configuration of the IPAM garbage collector, if it was read.
func (v *View) Collector() (GarbageCollectorConfig, bool) {
	v.touched[Collector] = true
	if len(v.s.Collector) == 0 {
		return GarbageCollectorConfig{}, false
	}
	return v.s.Collector[0], true
}
