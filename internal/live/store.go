// Package live keeps the rows of a cluster while they change. It finds what a changed row
// can make another of, and gives a small snapshot that holds all that judging it asks
// for. It judges nothing and reads nothing.
package live

import (
	"errors"
	"net/netip"
	"strings"

	"plumbline.dev/plumbline/internal/model"
)

// ErrDoubled means that two objects have one name: what changed cannot be told by it.
var ErrDoubled = errors.New("two objects have one name")

type name struct{ namespace, name string }

func (n name) String() string { return n.namespace + "/" + n.name }

func split(s string) name {
	ns, n, _ := strings.Cut(s, "/")
	return name{ns, n}
}

// A blockRow stays the same while its block changes: what finds it need not be renewed.
type blockRow struct{ *model.Block }

// A Store is all rows of a cluster, found by what detectors ask for. It is for one
// goroutine.
type Store struct {
	meta     model.Meta
	coverage []model.Coverage            // of the cluster's own tables
	onNode   map[string][]model.Coverage // of nodes' own
	few      model.Snapshot              // tables of few rows, which are in every small snapshot

	pods       map[name]*model.Pod
	podsAt     many[netip.Addr, *model.Pod] // by what they claim
	podsOn     many[string, *model.Pod]
	podsKnown  many[string, *model.Pod] // by UID
	nodes      map[string]*model.Node
	tunnels    many[netip.Addr, string] // names of nodes
	hosts      map[string]*model.Host
	hostsOf    many[string, *model.Host] // by the node that they say they are
	services   map[name]*model.Service
	servicesAt many[netip.Addr, *model.Service]
	vms        map[name]*model.VM
	events     many[name, *model.Event]

	blocks      map[netip.Prefix]*blockRow
	blocksAt    many[netip.Prefix, *blockRow] // masked
	lengths     [2][129]int                   // how many blocks have that length, by family
	blocksHeld  many[string, *blockRow]       // by the handles that they name
	blocksFor   many[owner, *blockRow]        // by who is named
	handles     map[string]*model.Handle      // by ID
	handlesAt   many[string, *model.Handle]   // by what is one to Calico
	affinities  map[string]*model.Affinity    // by the name of their Ref
	affinityAt  many[netip.Prefix, *model.Affinity]
	affinityOf  many[string, *model.Affinity] // by node
	endpoints   map[name]*model.Endpoint
	endpointsOf many[name, *model.Endpoint] // by pod
	endpointsAt many[netip.Addr, *model.Endpoint]
	endpointsOn many[string, *model.Endpoint]

	facts     map[string]*model.NodeState // as they were told
	brief     map[string]*model.NodeState // what other rows are judged by, for small snapshots
	inside    many[netip.Addr, place]     // nodes and sandboxes that have the address
	insideOf  many[name, netip.Addr]      // addresses of sandboxes, by pod
	insideUID many[string, netip.Addr]

	poolUse, nodeUse  map[string]model.Usage
	ledgered, written int // blocks, and pods, that show what Calico does
	woken             map[model.Subject]struct{}
	touched           map[model.Ref]struct{}
	anew              bool
}

// An owner is whom an attribute of a block names.
type owner struct {
	kind model.Kind
	name name
}

// A place is a sandbox of a node.
type place struct {
	node string
	box  *model.Sandbox
}

// New takes the rows of a snapshot as they were read, before it was sealed.
func New(s *model.Snapshot) (*Store, error) {
	st := &Store{
		meta: s.Meta, onNode: map[string][]model.Coverage{},
		few:  model.Snapshot{Info: s.Info, Collector: s.Collector, Components: s.Components, Pools: s.Pools, Reservations: s.Reservations},
		pods: make(map[name]*model.Pod, len(s.Pods)), podsAt: newMany[netip.Addr, *model.Pod](), podsOn: newMany[string, *model.Pod](), podsKnown: newMany[string, *model.Pod](),
		nodes: map[string]*model.Node{}, tunnels: newMany[netip.Addr, string](), hosts: map[string]*model.Host{}, hostsOf: newMany[string, *model.Host](),
		services: map[name]*model.Service{}, servicesAt: newMany[netip.Addr, *model.Service](), vms: map[name]*model.VM{}, events: newMany[name, *model.Event](),
		blocks: map[netip.Prefix]*blockRow{}, blocksAt: newMany[netip.Prefix, *blockRow](), blocksHeld: newMany[string, *blockRow](), blocksFor: newMany[owner, *blockRow](),
		handles: make(map[string]*model.Handle, len(s.Handles)), handlesAt: newMany[string, *model.Handle](),
		affinities: map[string]*model.Affinity{}, affinityAt: newMany[netip.Prefix, *model.Affinity](), affinityOf: newMany[string, *model.Affinity](),
		endpoints: map[name]*model.Endpoint{}, endpointsOf: newMany[name, *model.Endpoint](), endpointsAt: newMany[netip.Addr, *model.Endpoint](), endpointsOn: newMany[string, *model.Endpoint](),
		poolUse: map[string]model.Usage{}, nodeUse: map[string]model.Usage{},
	}
	for _, c := range s.Coverage {
		if c.Node == "" {
			st.coverage = append(st.coverage, c)
		}
	}
	for _, err := range []error{
		all(s.Nodes, st.putNode), all(s.Hosts, st.putHost), all(s.Services, st.putService), all(s.VMs, st.putVM), all(s.Pods, st.putPod),
		all(s.Blocks, st.putBlock), all(s.Handles, st.putHandle), all(s.Affinities, st.putAffinity), all(s.Endpoints, st.putEndpoint),
	} {
		if err != nil {
			return nil, err
		}
	}
	for i := range s.Events {
		st.events.add(name{s.Events[i].Namespace, s.Events[i].Pod}, &s.Events[i])
	}
	st.PutFacts(s)
	st.Wake() // none of them is news
	return st, nil
}

func all[T any](rows []T, put func(model.Ref, *T) error) error {
	for i := range rows {
		if err := put(model.Ref{}, &rows[i]); err != nil {
			return err
		}
	}
	return nil
}

// A Waking is what must be judged again.
type Waking struct {
	Subjects map[model.Subject]struct{}
	Refs     map[model.Ref]struct{} // what rests on one of these as well
	Anew     bool                   // all
}

// Wake gives what must be judged again since it was asked last.
func (s *Store) Wake() Waking {
	w := Waking{s.woken, s.touched, s.anew}
	s.woken, s.touched, s.anew = map[model.Subject]struct{}{}, map[model.Ref]struct{}{}, false
	return w
}
