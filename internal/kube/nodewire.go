package kube

import (
	"net/netip"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"plumbline.dev/plumbline/internal/model"
)

// pickNode takes from a node in protobuf what ParseNode takes from its JSON. Whole lists
// are read in protobuf: it is shorter and faster for both sides.
func pickNode(b []byte) (n model.Node, bad error) {
	keep := func(err error) {
		if bad == nil {
			bad = err
		}
	}
	keep(fields(b, func(num protowire.Number, v []byte, _ uint64) {
		switch int(num) {
		case objectFieldMetadata:
			keep(nodeMeta(v, &n))
		case objectFieldSpec:
			keep(nodeSpec(v, &n))
		case objectFieldStatus:
			keep(nodeStatus(v, &n))
		}
	}))
	return n, bad
}

func nodeMeta(b []byte, n *model.Node) error {
	notes, at := make([][]byte, len(tunnels)), make([][]byte, len(calicoIPs))
	err := fields(b, func(num protowire.Number, v []byte, _ uint64) {
		switch int(num) {
		case metaFieldName:
			n.Name = string(v)
		case metaFieldUID:
			n.UID = string(v)
		case metaFieldResourceVersion:
			n.Revision = string(v)
		case metaFieldCreationTimestamp:
			n.Created = seconds(v)
		case metaFieldAnnotations:
			key, value := pair(v)
			for i := range tunnels {
				if string(key) == tunnels[i].annotation {
					notes[i] = value
				}
			}
			if i := slices.Index(calicoIPs, string(key)); i >= 0 {
				at[i] = value
			}
		}
	})
	for _, prefix := range at {
		calicoIP(n, string(prefix))
	}
	for i, t := range tunnels {
		if ip, err := netip.ParseAddr(string(notes[i])); err == nil {
			n.Tunnels = append(n.Tunnels, model.Tunnel{Kind: t.kind, IP: ip.Unmap()})
		}
	}
	return err
}

func nodeSpec(b []byte, n *model.Node) error {
	return fields(b, func(num protowire.Number, v []byte, _ uint64) {
		switch int(num) {
		case nodeSpecFieldTaints:
			n.Taints = append(n.Taints, string(field(v, taintFieldKey))+":"+string(field(v, taintFieldEffect)))
		case nodeSpecFieldPodCIDRs:
			if p, err := netip.ParsePrefix(string(v)); err == nil {
				n.PodCIDRs = append(n.PodCIDRs, p)
			}
		}
	})
}

func nodeStatus(b []byte, n *model.Node) error {
	return fields(b, func(num protowire.Number, v []byte, _ uint64) {
		switch int(num) {
		case nodeStatusFieldConditions:
			if typ, status := condition(v); string(typ) == "Ready" {
				readiness(n, string(status), string(field(v, conditionFieldMessage)), seconds(field(v, conditionFieldLastTransitionTime)))
			}
		case nodeStatusFieldAddresses:
			typ, at := two(v, nodeAddressFieldType, nodeAddressFieldAddress)
			if ip, err := netip.ParseAddr(string(at)); err == nil && string(typ) == "InternalIP" {
				n.Addresses = append(n.Addresses, ip)
			}
		case nodeStatusFieldNodeInfo:
			n.BootID, n.OS = string(field(v, nodeInfoFieldBootID)), string(field(v, nodeInfoFieldOperatingSystem))
		}
	})
}

// field is a field of a message.
func field(b []byte, want protowire.Number) (out []byte) {
	_ = fields(b, func(num protowire.Number, v []byte, _ uint64) {
		if num == want {
			out = v
		}
	})
	return out
}
