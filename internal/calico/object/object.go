// Package object has Calico's IPAM objects and endpoints as they are stored, in custom
// resources and in etcd. Invariant: decoding and encoding an object gives the same object,
// including unknown fields and the difference between absent and null. The package does no
// I/O.
package object

import (
	"encoding/json"
	"errors"
	"fmt"

	"plumbline.dev/plumbline/internal/lossless"
)

// maxObject bounds what is parsed. The limit of etcd is far lower.
const maxObject = 10 << 20

// ErrTooBig means that an object exceeds maxObject.
var ErrTooBig = errors.New("exceeds 10 MB")

// Decode parses a spec (custom resource) or a value (etcd); name is used in errors.
func Decode[T any](name string, b []byte, extra func(*T) *lossless.Extra) (T, error) {
	var v T
	if len(b) > maxObject {
		return v, fmt.Errorf("%s: %w", name, ErrTooBig)
	}
	e, err := lossless.Decode(b, &v)
	if err != nil {
		return v, fmt.Errorf("%s: %w", name, err)
	}
	*extra(&v) = e
	return v, nil
}

// A Block is the spec of an IPAMBlock, or the value of a block key in etcd.
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
	HostAffinity      lossless.Opt[string]            `json:"hostAffinity,omitzero"` // only in etcd, written by old versions

	Extra lossless.Extra `json:"-"`
}

// An Attribute is the owner of ordinals. Several ordinals may refer to one attribute.
type Attribute struct {
	Handle     lossless.Opt[string]            `json:"handle_id,omitzero"`
	Secondary  lossless.Opt[map[string]string] `json:"secondary,omitzero"`
	Alternate  lossless.Opt[map[string]string] `json:"alternateOwnerAttrs,omitzero"`
	ReleasedAt lossless.Opt[json.RawMessage]   `json:"releasedAt,omitzero"`

	Extra lossless.Extra `json:"-"`
}

// UnmarshalJSON keeps unknown fields in Extra.
func (a *Attribute) UnmarshalJSON(b []byte) (err error) {
	type plain Attribute
	var p plain
	if p.Extra, err = lossless.Decode(b, &p); err != nil {
		return err
	}
	*a = Attribute(p)
	return nil
}

// MarshalJSON writes Extra too.
func (a Attribute) MarshalJSON() ([]byte, error) {
	type plain Attribute
	return lossless.Encode(plain(a), a.Extra)
}

// A Handle is the spec of an IPAMHandle, or the value of a handle key in etcd.
type Handle struct {
	ID      lossless.Opt[string]         `json:"handleID,omitzero"`
	Block   lossless.Opt[map[string]int] `json:"block,omitzero"`
	Deleted lossless.Opt[bool]           `json:"deleted,omitzero"`

	Extra lossless.Extra `json:"-"`
}

// An Affinity is the spec of a BlockAffinity, or the value of an affinity key in etcd.
// Deleted is a string in one API group and a boolean elsewhere.
type Affinity struct {
	State   lossless.Opt[string]          `json:"state,omitzero"`
	Node    lossless.Opt[string]          `json:"node,omitzero"`
	Type    lossless.Opt[string]          `json:"type,omitzero"`
	CIDR    lossless.Opt[string]          `json:"cidr,omitzero"`
	Deleted lossless.Opt[json.RawMessage] `json:"deleted,omitzero"`

	Extra lossless.Extra `json:"-"`
}

// An Endpoint is the spec of a WorkloadEndpoint.
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
