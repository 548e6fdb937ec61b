// Package calico reads the Calico datastore as Calico wrote it, from custom resources or
// from etcd, without Calico's own library, and turns it into rows; and it writes single
// objects by atomic updates.
package calico

import (
	"encoding/json"
	"fmt"
	"slices"

	"plumbline.dev/plumbline/internal/calico/object"
	"plumbline.dev/plumbline/internal/lossless"
	"plumbline.dev/plumbline/internal/model"
)

// The types below are only read; those that are also written are in package object.

// maxObject bounds what is parsed; etcd's own limit is far below.
const maxObject = 10 << 20

// A calicoNode is a Node's spec in etcd. Its inner objects are only read.
type calicoNode struct {
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
	IPv4 string `json:"ipv4Address"`
	IPv6 string `json:"ipv6Address"`
	IPIP string `json:"ipv4IPIPTunnelAddr"`
}

type hostWireguard struct {
	IPv4 string `json:"interfaceIPv4Address"`
	IPv6 string `json:"interfaceIPv6Address"`
}

// A ipPool is an IPPool's spec.
type ipPool struct {
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

// A ipReservation is an IPReservation's spec.
type ipReservation struct {
	CIDRs lossless.Opt[[]string] `json:"reservedCIDRs,omitzero"`

	Extra lossless.Extra `json:"-"`
}

// clusterInformation is the spec of the one object of that kind.
type clusterInformation struct {
	GUID    lossless.Opt[string] `json:"clusterGUID,omitzero"`
	Version lossless.Opt[string] `json:"calicoVersion,omitzero"`
	Ready   lossless.Opt[bool]   `json:"datastoreReady,omitzero"`
	CNX     lossless.Opt[string] `json:"cnxVersion,omitzero"` // of Calico Enterprise

	Extra lossless.Extra `json:"-"`
}

// A felixConfiguration is the part of a FelixConfiguration's spec that selects the data plane.
type felixConfiguration struct {
	BPFEnabled      lossless.Opt[bool]   `json:"bpfEnabled,omitzero"`
	InterfacePrefix lossless.Opt[string] `json:"interfacePrefix,omitzero"`

	Extra lossless.Extra `json:"-"`
}

// An ipamConfig is the spec of the one object of that kind; etcd uses other names.
type ipamConfig struct {
	StrictAffinity     lossless.Opt[bool] `json:"strictAffinity,omitzero"`
	AutoAllocateBlocks lossless.Opt[bool] `json:"autoAllocateBlocks,omitzero"`
	EtcdStrict         lossless.Opt[bool] `json:"strict_affinity,omitzero"`
	EtcdAuto           lossless.Opt[bool] `json:"auto_allocate_blocks,omitzero"`
	MaxBlocksPerHost   lossless.Opt[int]  `json:"maxBlocksPerHost,omitzero"`

	Extra lossless.Extra `json:"-"`
}

// meta is the part of an object's metadata that we use.
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

// written is when the object was last written, by the API server's clock.
func (m *meta) written() model.Time {
	t := m.CreationTimestamp
	for _, f := range m.ManagedFields {
		t = max(t, f.Time)
	}
	return t
}

type rawObject struct {
	Metadata meta            `json:"metadata"`
	Spec     json.RawMessage `json:"spec"`
}

func parseObject(kind string, b []byte) (rawObject, error) {
	var o rawObject
	if len(b) > maxObject {
		return o, fmt.Errorf("%s: %w", kind, object.ErrTooBig)
	}
	if err := json.Unmarshal(b, &o); err != nil {
		return o, fmt.Errorf("%s %s: %w", kind, o.Metadata.Name, err)
	}
	if len(o.Spec) == 0 {
		o.Spec = json.RawMessage("{}")
	}
	return o, nil
}

// parseHeader reads what an object has around its spec.
func parseHeader(kind string, b []byte) (header, error) {
	if h, ok := scanHeader(b); ok {
		return h, nil
	}
	return decodeHeader(kind, b)
}

func decodeHeader(kind string, b []byte) (header, error) {
	o, err := parseObject(kind, b)
	m := &o.Metadata
	return header{
		name: []byte(m.Name), uid: []byte(m.UID), revision: []byte(m.ResourceVersion), spec: o.Spec, written: m.written(),
		labelled: !slices.ContainsFunc(object.IPAMLabels, func(l string) bool { return m.Labels[l] == "" }),
	}, err
}
