package model

import (
	"net/netip"
	"strings"
)

// Info is what is true of the whole cluster. There is one row.
type Info struct {
	GUID           string `json:"guid,omitempty"`
	Kubernetes     string `json:"kubernetes,omitempty"`
	Calico         string `json:"calico,omitempty"`    // version
	Datastore      string `json:"datastore,omitempty"` // kdd or etcd
	Group          string `json:"group,omitempty"`     // API group of the custom resources
	Type           string `json:"type,omitempty"`      // clusterType
	Ready          bool   `json:"ready"`               // datastoreReady
	IPAM           string `json:"ipam,omitempty"`      // calico, host-local, other; empty means not known
	Networking     string `json:"networking,omitempty"`
	StrictAffinity bool   `json:"strictAffinity,omitempty"`
	MaxBlocks      int    `json:"maxBlocks,omitempty"` // per node
	Revision       string `json:"revision,omitempty"`
	Extra          Extra  `json:"-"`
}

// GarbageCollectorConfig says how Calico's garbage collector is set. There is one row.
type GarbageCollectorConfig struct {
	LeakGracePeriod int64  `json:"grace"` // leakGracePeriod in seconds; 0 means off
	Revision        string `json:"revision,omitempty"`
	Extra           Extra  `json:"-"`
}

// A Component is a part of Calico that runs as a workload.
type Component struct {
	Name     string            `json:"name"` // calico-node, calico-kube-controllers, …
	Version  string            `json:"version,omitempty"`
	Wanted   int               `json:"wanted"`
	Ready    int               `json:"ready"`
	Settings map[string]string `json:"settings,omitempty"` // the few environment variables that matter
	Extra    Extra             `json:"-"`
}

// A Pool is a range from which Calico may take blocks.
type Pool struct {
	Name       string       `json:"name"`
	CIDR       netip.Prefix `json:"cidr"`
	BlockSize  int          `json:"blockSize,omitempty"`
	Disabled   bool         `json:"disabled,omitempty"`
	Uses       []string     `json:"uses,omitempty"` // allowedUses; empty means workloads and tunnels
	Assignment string       `json:"assignment,omitempty"`
	Selector   string       `json:"selector,omitempty"` // nodeSelector
	Tunnel     string       `json:"tunnel,omitempty"`   // IPIP, VXLAN or nothing
	Revision   string       `json:"revision,omitempty"`
	Extra      Extra        `json:"-"`
}

// Ref names the pool.
func (p *Pool) Ref() Ref { return Ref{KindPool, p.Name} }

// Serves tells whether addresses of the pool may go to that use.
func (p *Pool) Serves(use string) bool {
	if len(p.Uses) == 0 {
		return use != "LoadBalancer"
	}
	for _, u := range p.Uses {
		if u == use {
			return true
		}
	}
	return false
}

// A Reservation is a set of addresses that IPAM shall not give out by itself.
type Reservation struct {
	Name  string         `json:"name"`
	CIDRs []netip.Prefix `json:"cidrs,omitempty"`
	Extra Extra          `json:"-"`
}

// A Block is a range of addresses with the record of who holds which.
type Block struct {
	Name       string       `json:"name"` // of the object, or the end of its key
	CIDR       netip.Prefix `json:"cidr"`
	Affinity   string       `json:"affinity,omitempty"` // host:NODE, virtual:load-balancer, or none
	Length     int          `json:"length"`             // of the list of ordinals
	Held       []Slot       `json:"held,omitempty"`
	Free       []int32      `json:"free,omitempty"` // the list of ordinals to give out next, in its order
	Attributes []Attribute  `json:"attributes,omitempty"`
	Sequence   uint64       `json:"sequence,string"`
	Sequences  []Sequence   `json:"sequences,omitempty"`
	Deleted    bool         `json:"deleted,omitempty"`
	UID        string       `json:"uid,omitempty"`
	Written    Time         `json:"written,omitzero"`
	Revision   string       `json:"revision,omitempty"`
	Extra      Extra        `json:"-"`
}

// Ref names the block.
func (b *Block) Ref() Ref { return Ref{KindBlock, b.CIDR.String()} }

// Node is the node that the block is affine to, or nothing.
func (b *Block) Node() string {
	if n, ok := strings.CutPrefix(b.Affinity, "host:"); ok {
		return n
	}
	return ""
}

// BlockName is what Calico calls a block of that range: the name of its resource.
func BlockName(p netip.Prefix) string { return dashed.Replace(p.String()) }

var dashed = strings.NewReplacer(".", "-", ":", "-", "/", "-")

// A Slot is an ordinal that is held, and the index of the attribute that says by whom.
type Slot [2]int32

// A Sequence is the block's number when the ordinal was assigned.
type Sequence struct {
	Ordinal int32  `json:"o"`
	Number  uint64 `json:"n,string"`
}

// An Attribute says who holds ordinals of a block.
type Attribute struct {
	Handle    string `json:"handle,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Pod       string `json:"pod,omitempty"`
	Node      string `json:"node,omitempty"`
	Type      string `json:"type,omitempty"`
	Service   string `json:"service,omitempty"`
	VM        string `json:"vm,omitempty"`
	Alternate string `json:"alternate,omitempty"`    // pod that a machine is moving to
	Other     uint64 `json:"other,omitempty,string"` // a digest of what else it says
	Cooling   bool   `json:"cooling,omitempty"`      // released, and kept from use for a while
}

// WindowsHandle marks ordinals that Windows nodes keep for themselves.
const WindowsHandle = "windows-reserved-ipam-handle"

// Tunnel tells that a node's own tunnel device holds the address.
func (a *Attribute) Tunnel() bool { return strings.HasSuffix(a.Type, "TunnelAddress") }

// An Allocation is one held ordinal: derived from its block when a snapshot is sealed.
type Allocation struct {
	IP      netip.Addr
	Block   int32 // row
	Ordinal int32
	Attr    int32
}

// Ref names the allocation by its address.
func (a *Allocation) Ref() Ref { return Ref{KindAddress, a.IP.String()} }

// A Handle counts, by block, the addresses that one owner holds.
type Handle struct {
	ID       string       `json:"id"` // as its owner spells it
	Name     string       `json:"name,omitempty"`
	Blocks   []BlockCount `json:"blocks,omitempty"`
	Deleted  bool         `json:"deleted,omitempty"`
	UID      string       `json:"uid,omitempty"`
	Written  Time         `json:"written,omitzero"`
	Revision string       `json:"revision,omitempty"`
	Extra    Extra        `json:"-"`

	Missing bool `json:"-"` // blocks name it, and there is no such object: derived
}

// Ref names the handle.
func (h *Handle) Ref() Ref { return Ref{KindHandle, h.ID} }

// A BlockCount is how many addresses of a block a handle says it holds.
type BlockCount struct {
	CIDR  netip.Prefix `json:"cidr"`
	Count int          `json:"count"`
}

// An Affinity says that a node (or Calico's load balancer) owns a block.
type Affinity struct {
	Name     string       `json:"name"`
	Node     string       `json:"node"`
	Type     string       `json:"type,omitempty"` // host or virtual
	CIDR     netip.Prefix `json:"cidr"`
	State    string       `json:"state,omitempty"` // confirmed, pending, pendingDeletion
	Deleted  bool         `json:"deleted,omitempty"`
	Labelled bool         `json:"labelled,omitempty"` // has the labels by which IPAM finds it
	UID      string       `json:"uid,omitempty"`
	Written  Time         `json:"written,omitzero"`
	Revision string       `json:"revision,omitempty"`
	Extra    Extra        `json:"-"`
}

// Ref names the affinity.
func (a *Affinity) Ref() Ref { return Ref{KindAffinity, a.Node + "/" + a.CIDR.String()} }

// A Host is a node as Calico keeps it in etcd. Its name may differ from Kubernetes',
// and it may be none of this cluster's.
type Host struct {
	Name       string   `json:"name"`
	Kubernetes string   `json:"kubernetes,omitempty"` // the node that it says it is
	Tunnels    []Tunnel `json:"tunnels,omitempty"`
	Revision   string   `json:"revision,omitempty"`
	Extra      Extra    `json:"-"`
}

// An Endpoint is a WorkloadEndpoint that Calico stores itself (etcd mode).
type Endpoint struct {
	Namespace    string       `json:"namespace"`
	Name         string       `json:"name"`
	Node         string       `json:"node"`
	Orchestrator string       `json:"orchestrator,omitempty"`
	Pod          string       `json:"pod,omitempty"`
	Interface    string       `json:"interface,omitempty"` // in the pod
	Device       string       `json:"device,omitempty"`    // on the host
	ContainerID  string       `json:"containerID,omitempty"`
	MAC          string       `json:"mac,omitempty"`
	IPs          []netip.Addr `json:"ips,omitempty"`
	Written      Time         `json:"written,omitzero"`
	Revision     string       `json:"revision,omitempty"`
	Extra        Extra        `json:"-"`
}

// Ref names the endpoint.
func (e *Endpoint) Ref() Ref { return Ref{KindEndpoint, e.Namespace + "/" + e.Name} }
