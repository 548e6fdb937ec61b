// Package calico reads Calico's ledger as Calico wrote it, from custom resources or from
// etcd, without Calico's own library, and turns it into rows. It only reads.
package calico

import (
	"encoding/json"
	"errors"
	"fmt"

	"plumbline.dev/plumbline/internal/lossless"
	"plumbline.dev/plumbline/internal/model"
)

// The types below are Calico's objects as they are stored. Whatever is read and written
// again is the same: fields that we do not know, and absent against null, included.

// maxObject bounds what we are willing to parse; etcd's own limit is far below.
const maxObject = 10 << 20

var errTooBig = errors.New("exceeds 10 MB")

// A Block is an IPAMBlock's spec, or the value of a block's key.
type Block struct {
	CIDR              lossless.Opt[string]            `json:"cidr,omitzero"`
	Affinity          lossless.Opt[string]            `json:"affinity,omitzero"`
	Allocations       lossless.Opt[[]*int32]          `json:"allocations,omitzero"`
	Unallocated       lossless.Opt[[]int32]           `json:"unallocated,omitzero"`
	Attributes        lossless.Opt[[]Attribute]       `json:"attributes,omitzero"`
	Sequence          lossless.Opt[uint64]            `json:"sequenceNumber,omitzero"`
	Sequences         lossless.Opt[map[string]uint64] `json:"sequenceNumberForAllocation,omitzero"`
	Deleted           lossless.Opt[bool]              `json:"deleted,omitzero"`
	StrictAffinity    lossless.Opt[bool]              `json:"strictAffinity,omitzero"`
	AffinityClaimTime lossless.Opt[json.RawMessage]   `json:"affinityClaimTime,omitzero"`
	HostAffinity      lossless.Opt[string]            `json:"hostAffinity,omitzero"` // of long ago, in etcd

	Extra lossless.Extra `json:"-"`
}

// An Attribute says who holds ordinals.
type Attribute struct {
	Handle     lossless.Opt[string]            `json:"handle_id,omitzero"`
	Secondary  lossless.Opt[map[string]string] `json:"secondary,omitzero"`
	Alternate  lossless.Opt[map[string]string] `json:"alternateOwnerAttrs,omitzero"`
	ReleasedAt lossless.Opt[json.RawMessage]   `json:"releasedAt,omitzero"`

	Extra lossless.Extra `json:"-"`
}

// UnmarshalJSON keeps what we do not know.
func (a *Attribute) UnmarshalJSON(b []byte) (err error) {
	type plain Attribute
	var p plain
	if p.Extra, err = lossless.Decode(b, &p); err != nil {
		return err
	}
	*a = Attribute(p)
	return nil
}

// MarshalJSON writes it again.
func (a Attribute) MarshalJSON() ([]byte, error) {
	type plain Attribute
	return lossless.Encode(plain(a), a.Extra)
}

// A Handle is an IPAMHandle's spec, or the value of a handle's key.
type Handle struct {
	ID      lossless.Opt[string]         `json:"handleID,omitzero"`
	Block   lossless.Opt[map[string]int] `json:"block,omitzero"`
	Deleted lossless.Opt[bool]           `json:"deleted,omitzero"`

	Extra lossless.Extra `json:"-"`
}

// An Affinity is a BlockAffinity's spec, or the value of an affinity's key. Whether it
// is deleted is a string in one API group and a boolean elsewhere.
type Affinity struct {
	State   lossless.Opt[string]          `json:"state,omitzero"`
	Node    lossless.Opt[string]          `json:"node,omitzero"`
	Type    lossless.Opt[string]          `json:"type,omitzero"`
	CIDR    lossless.Opt[string]          `json:"cidr,omitzero"`
	Deleted lossless.Opt[json.RawMessage] `json:"deleted,omitzero"`

	Extra lossless.Extra `json:"-"`
}

// An Endpoint is a WorkloadEndpoint's spec.
type Endpoint struct {
	Orchestrator lossless.Opt[string]   `json:"orchestrator,omitzero"`
	Node         lossless.Opt[string]   `json:"node,omitzero"`
	Pod          lossless.Opt[string]   `json:"pod,omitzero"`
	ContainerID  lossless.Opt[string]   `json:"containerID,omitzero"`
	Endpoint     lossless.Opt[string]   `json:"endpoint,omitzero"`
	Interface    lossless.Opt[string]   `json:"interfaceName,omitzero"`
	MAC          lossless.Opt[string]   `json:"mac,omitzero"`
	IPNetworks   lossless.Opt[[]string] `json:"ipNetworks,omitzero"`

	Extra lossless.Extra `json:"-"`
}

// A Host is a Node's spec in etcd. Of its inner objects we only read.
type Host struct {
	OrchRefs lossless.Opt[[]orchRef] `json:"orchRefs,omitzero"`
	BGP      lossless.Opt[hostBGP]   `json:"bgp,omitzero"`
	VXLAN4   lossless.Opt[string]    `json:"ipv4VXLANTunnelAddr,omitzero"`
	VXLAN6   lossless.Opt[string]    `json:"ipv6VXLANTunnelAddr,omitzero"`

	Wireguard lossless.Opt[hostWireguard] `json:"wireguard,omitzero"`

	Extra lossless.Extra `json:"-"`
}

type orchRef struct {
	NodeName     string `json:"nodeName"`
	Orchestrator string `json:"orchestrator"`
}

type hostBGP struct {
	IPIP string `json:"ipv4IPIPTunnelAddr"`
}

type hostWireguard struct {
	IPv4 string `json:"interfaceIPv4Address"`
	IPv6 string `json:"interfaceIPv6Address"`
}

// A Pool is an IPPool's spec.
type Pool struct {
	CIDR       lossless.Opt[string]   `json:"cidr,omitzero"`
	BlockSize  lossless.Opt[int]      `json:"blockSize,omitzero"`
	Disabled   lossless.Opt[bool]     `json:"disabled,omitzero"`
	Selector   lossless.Opt[string]   `json:"nodeSelector,omitzero"`
	Uses       lossless.Opt[[]string] `json:"allowedUses,omitzero"`
	IPIP       lossless.Opt[string]   `json:"ipipMode,omitzero"`
	VXLAN      lossless.Opt[string]   `json:"vxlanMode,omitzero"`
	Assignment lossless.Opt[string]   `json:"assignmentMode,omitzero"`

	Extra lossless.Extra `json:"-"`
}

// A Reservation is an IPReservation's spec.
type Reservation struct {
	CIDRs lossless.Opt[[]string] `json:"reservedCIDRs,omitzero"`

	Extra lossless.Extra `json:"-"`
}

// ClusterInformation is the spec of the one object of that kind.
type ClusterInformation struct {
	GUID    lossless.Opt[string] `json:"clusterGUID,omitzero"`
	Type    lossless.Opt[string] `json:"clusterType,omitzero"`
	Version lossless.Opt[string] `json:"calicoVersion,omitzero"`
	Ready   lossless.Opt[bool]   `json:"datastoreReady,omitzero"`

	Extra lossless.Extra `json:"-"`
}

// An IPAMConfig is the spec of the one object of that kind; etcd spells it differently.
type IPAMConfig struct {
	StrictAffinity     lossless.Opt[bool] `json:"strictAffinity,omitzero"`
	AutoAllocateBlocks lossless.Opt[bool] `json:"autoAllocateBlocks,omitzero"`
	EtcdStrict         lossless.Opt[bool] `json:"strict_affinity,omitzero"`
	EtcdAuto           lossless.Opt[bool] `json:"auto_allocate_blocks,omitzero"`
	MaxBlocksPerHost   lossless.Opt[int]  `json:"maxBlocksPerHost,omitzero"`

	Extra lossless.Extra `json:"-"`
}

// decode reads a spec or a value; name is the object's, for the error.
func decode[T any](name string, b []byte, extra func(*T) *lossless.Extra) (T, error) {
	var v T
	if len(b) > maxObject {
		return v, fmt.Errorf("%s: %w", name, errTooBig)
	}
	e, err := lossless.Decode(b, &v)
	if err != nil {
		return v, fmt.Errorf("%s: %w", name, err)
	}
	*extra(&v) = e
	return v, nil
}

// meta is what we use of an object's metadata.
type meta struct {
	Name              string            `json:"name"`
	Namespace         string            `json:"namespace"`
	UID               string            `json:"uid"`
	ResourceVersion   string            `json:"resourceVersion"`
	CreationTimestamp model.Time        `json:"creationTimestamp"`
	Labels            map[string]string `json:"labels"`
	ManagedFields     []struct {
		Time model.Time `json:"time"`
	} `json:"managedFields"`
}

// written is when anybody wrote the object last, by the API server's clock.
func (m *meta) written() model.Time {
	t := m.CreationTimestamp
	for _, f := range m.ManagedFields {
		t = max(t, f.Time)
	}
	return t
}

type object struct {
	Metadata meta            `json:"metadata"`
	Spec     json.RawMessage `json:"spec"`
}

func parseObject(kind string, b []byte) (object, error) {
	var o object
	if len(b) > maxObject {
		return o, fmt.Errorf("%s: %w", kind, errTooBig)
	}
	if err := json.Unmarshal(b, &o); err != nil {
		return o, fmt.Errorf("%s %s: %w", kind, o.Metadata.Name, err)
	}
	if len(o.Spec) == 0 {
		o.Spec = json.RawMessage("{}")
	}
	return o, nil
}
