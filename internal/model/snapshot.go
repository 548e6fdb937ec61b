package model

import (
	"sync"
)

// Schema is the version of the rows.
const Schema = 2

// Meta describes a snapshot.
type Meta struct {
	Schema  int    `json:"schema"`
	GUID    string `json:"clusterGUID,omitempty"`
	Taken   Time   `json:"taken"`             // by the API server's clock
	Version string `json:"version,omitempty"` // of the Plumbline that created it
	// Endpoints are those of the etcd that was read as Calico's datastore, as HOST:PORT.
	Endpoints []string `json:"endpoints,omitempty"`
	Extra     Extra    `json:"-"`
}

// A Snapshot holds rows as they were read. It is filled, then sealed into a View, and never
// changed afterwards.
type Snapshot struct {
	Meta     Meta
	Coverage []Coverage

	Pods     []Pod
	Nodes    []Node
	Services []Service
	VMs      []VM
	Events   []Event

	Info         []Info
	Collector    []GarbageCollectorConfig
	Components   []Component
	Pools        []Pool
	Reservations []Reservation
	Blocks       []Block
	Handles      []Handle
	Affinities   []Affinity
	Endpoints    []Endpoint
	Hosts        []Host

	NodeState map[string]*NodeState // by node

	Unknown map[string][]byte // sections that this version does not know, unchanged
}

// NodeState holds the tables of one node.
type NodeState struct {
	Links       []Link
	Routes      []Route
	Rules       []Rule
	Paths       []Path
	Neighbours  []Neighbour
	Attachments []Attachment
	Sysctls     []Sysctl
	Firewall    []Chain
	Sandboxes   []Sandbox
	Containers  []Container
	CNIConfigs  []CNIConfig
	CNIResults  []CNIResult
	Processes   []Process
	Mounts      []Mount
	Runtimes    []Runtime
	FailedDels  []FailedDel
	Proxies     []Proxy
	HostLocal   []Reserved
	Guards      []Guard
	Machines    []Machine
}

// A Builder takes rows from several readers concurrently.
type Builder struct {
	mu sync.Mutex
	s  Snapshot
}

// Add calls f to add rows to the snapshot. Calls do not overlap.
func (b *Builder) Add(f func(*Snapshot)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f(&b.s)
}

// Snapshot returns the snapshot. The builder must not be used afterwards.
func (b *Builder) Snapshot() *Snapshot {
	b.mu.Lock()
	defer b.mu.Unlock()
	return &b.s
}

// An Interner returns one copy of equal strings, for those that repeat: names of nodes,
// namespaces and owners. It is not safe for concurrent use.
type Interner map[string]string

// Of returns the one copy of s.
func (in Interner) Of(s string) string {
	if t, ok := in[s]; ok {
		return t
	}
	in[s] = s
	return s
}

// Bytes returns the one copy of b.
func (in Interner) Bytes(b []byte) string {
	if t, ok := in[string(b)]; ok {
		return t
	}
	return in.Of(string(b))
}
