package model

import (
	"net/netip"
	"strings"
)

// Info describes the whole cluster. There is one row.
type Info struct {
	GUID            string `json:"guid,omitempty"`
	Kubernetes      string `json:"kubernetes,omitempty"`
	Calico          string `json:"calico,omitempty"`    // version
	Datastore       string `json:"datastore,omitempty"` // kdd or etcd
	Group           string `json:"group,omitempty"`     // API group of the custom resources
	Ready           bool   `json:"ready"`               // datastoreReady
	IPAM            string `json:"ipam,omitempty"`      // calico, host-local, other; empty means not known
	Networking      string `json:"networking,omitempty"`
	Enterprise      string `json:"enterprise,omitempty"`      // version of Calico Enterprise, or unknown; empty: open source
	Dataplane       string `json:"dataplane,omitempty"`       // bpf, vpp, iptables, nftables; empty means not known
	InterfacePrefix string `json:"interfacePrefix,omitempty"` // of FelixConfiguration
	StrictAffinity  bool   `json:"strictAffinity,omitempty"`
	MaxBlocks       int    `json:"maxBlocks,omitempty"` // per node
	Revision        string `json:"revision,omitempty"`
	// Restored is what whoever reads the cluster remembers of its datastores.
	Restored []Restored `json:"restored,omitempty"`
	Extra    Extra      `json:"-"`
}

// GarbageCollectorConfig is the configuration of the IPAM garbage collector. There is one row.
type GarbageCollectorConfig struct {
	LeakGracePeriod int64 `json:"leakGracePeriod"` // in seconds; 0 means off
	Extra           Extra `json:"-"`
}

// A Component is a DaemonSet or Deployment of Calico.
type Component struct {
	Name     string            `json:"name"` // calico-node, calico-kube-controllers, …
	Version  string            `json:"version,omitempty"`
	Wanted   int               `json:"wanted"`
	Ready    int               `json:"ready"`
	Old      int               `json:"old,omitempty"`      // pods that are not, or not known to be, of the present template
	Settings map[string]string `json:"settings,omitempty"` // the few environment variables that matter
	Extra    Extra             `json:"-"`
}

// A Pool is an IPPool.
type Pool struct {
	Name       string       `json:"name"`
	CIDR       netip.Prefix `json:"cidr"`
	BlockSize  int          `json:"blockSize,omitempty"`
	Disabled   bool         `json:"disabled,omitempty"`
	Uses       []string     `json:"uses,omitempty"` // allowedUses; empty means workloads and tunnels
	Assignment string       `json:"assignment,omitempty"`
	Selector   string       `json:"selector,omitempty"` // nodeSelector
	Tunnel     string       `json:"tunnel,omitempty"`   // IPIP, VXLAN or empty
	Mode       string       `json:"mode,omitempty"`     // of the tunnel: Always or CrossSubnet; empty without one, and in older bundles
	Revision   string       `json:"revision,omitempty"`
	Extra      Extra        `json:"-"`
}

// Ref names the pool.
func (p *Pool) Ref() Ref { return Ref{KindPool, p.Name} }

// OnRequest reports whether only pods that name the pool get its addresses.
func (p *Pool) OnRequest() bool { return p.Assignment == "Manual" || p.Selector == "!all()" }

// fewAddresses is how many a pool has at most that somebody made for certain Services.
const fewAddresses = 4

// ForCertain reports whether the pool was made for certain Services of type LoadBalancer: it has a few addresses for them, and
// nobody waits for a free one.
func (p *Pool) ForCertain() bool {
	return p.Serves("LoadBalancer") && !p.Serves("Workload") && Size(p.CIDR, maxBlock) <= fewAddresses
}

// Serves reports whether the pool allows that use.
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

// A Reservation is an IPReservation: addresses that IPAM does not assign by itself.
type Reservation struct {
	Name  string         `json:"name"`
	CIDRs []netip.Prefix `json:"cidrs,omitempty"`
	Extra Extra          `json:"-"`
}

// DefaultBlockSize is the prefix length of blocks in a pool that sets no blockSize.
func DefaultBlockSize(of netip.Addr) int {
	if of.Is4() {
		return 26
	}
	return 122
}

// A Block is an IPAM block.
type Block struct {
	Name       string       `json:"name"` // of the object, or the last part of its etcd key
	CIDR       netip.Prefix `json:"cidr"`
	Affinity   string       `json:"affinity,omitempty"` // host:NODE, virtual:load-balancer, or none
	Length     int          `json:"length"`             // of the list of ordinals
	Held       []Slot       `json:"held,omitempty"`
	Free       []int32      `json:"free,omitempty"` // ordinals to assign next, in this order
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

// Node is the node of the block's affinity, or empty.
func (b *Block) Node() string {
	if n, ok := strings.CutPrefix(b.Affinity, "host:"); ok {
		return n
	}
	return ""
}

// BlockName is the name of the resource of a block.
func BlockName(p netip.Prefix) string { return dashed.Replace(p.String()) }

var dashed = strings.NewReplacer(".", "-", ":", "-", "/", "-")

// A Slot is an allocated ordinal, and the index of its attribute in Attributes. In a broken
// block (PL1004) either may be out of range.
type Slot [2]int32

// A Sequence is the block's sequence number when the ordinal was assigned.
type Sequence struct {
	Ordinal int32  `json:"o"`
	Number  uint64 `json:"n,string"`
}

// An Attribute describes the owner of allocated ordinals.
type Attribute struct {
	Handle    string `json:"handle,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Pod       string `json:"pod,omitempty"`
	Node      string `json:"node,omitempty"`
	Type      string `json:"type,omitempty"`
	Service   string `json:"service,omitempty"`
	VM        string `json:"vm,omitempty"`
	Alternate string `json:"alternate,omitempty"`    // pod that a KubeVirt VM migrates to
	Other     uint64 `json:"other,omitempty,string"` // a digest of its other fields
	Cooling   bool   `json:"cooling,omitempty"`      // released, in its cooldown
}

// WindowsHandle is the handle of ordinals that Windows nodes reserve.
const WindowsHandle = "windows-reserved-ipam-handle"

// Tunnel reports whether a tunnel of a node holds the address.
func (a *Attribute) Tunnel() bool { return strings.HasSuffix(a.Type, "TunnelAddress") }

// An Allocation is one allocated ordinal, derived from its block by Seal.
type Allocation struct {
	IP      netip.Addr // Offset(block's CIDR, Ordinal)
	Block   int32      // row of Blocks
	Ordinal int32      // within the block
	Attr    int32      // index of its attribute; out of range in a broken block
}

// Ref names the allocation by its address.
func (a *Allocation) Ref() Ref { return Ref{KindAddress, a.IP.String()} }

// A Handle counts, by block, the addresses that one owner holds.
type Handle struct {
	ID       string       `json:"id"` // spelled as in the object
	Name     string       `json:"name,omitempty"`
	Blocks   []BlockCount `json:"blocks,omitempty"`
	Deleted  bool         `json:"deleted,omitempty"`
	UID      string       `json:"uid,omitempty"`
	Written  Time         `json:"written,omitzero"`
	Revision string       `json:"revision,omitempty"`
	Extra    Extra        `json:"-"`

	Missing bool `json:"-"` // derived by Seal: blocks name it, but the object does not exist
}

// Ref names the handle.
func (h *Handle) Ref() Ref { return Ref{KindHandle, h.ID} }

// A BlockCount is the handle's count of addresses in a block.
type BlockCount struct {
	CIDR  netip.Prefix `json:"cidr"`
	Count int          `json:"count"`
}

// An Affinity is a BlockAffinity: a node (or Calico's load balancer) owns a block.
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

// A Host is a Calico Node (etcd mode). Its name may differ from the Kubernetes node's, and it
// may belong to another cluster.
type Host struct {
	Name       string       `json:"name"`
	Kubernetes string       `json:"kubernetes,omitempty"` // the Kubernetes node in orchRefs
	IPs        []netip.Addr `json:"ips,omitempty"`        // spec.bgp
	Tunnels    []Tunnel     `json:"tunnels,omitempty"`
	Revision   string       `json:"revision,omitempty"`
	Extra      Extra        `json:"-"`
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
	Created      Time         `json:"created,omitzero"` // by its node's clock: it proves no age
	Written      Time         `json:"written,omitzero"`
	Revision     string       `json:"revision,omitempty"`
	Extra        Extra        `json:"-"`
}

// Ref names the endpoint.
func (e *Endpoint) Ref() Ref { return Ref{KindEndpoint, e.Namespace + "/" + e.Name} }
