package calico

import (
	"bytes"
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strconv"

	"plumbline.dev/plumbline/internal/calico/object"
	"plumbline.dev/plumbline/internal/lossless"
	"plumbline.dev/plumbline/internal/model"
)

// origin is where a row was read: its name, time and revision.
type origin struct {
	name, uid, revision string
	written             model.Time
	keep                *arena // allocates its parts; may be nil
}

func blockRow(b []byte, o origin) (model.Block, error) {
	if row, ok := scanBlock(b, o); ok {
		return row, nil
	}
	return decodeBlock(b, o)
}

func decodeBlock(b []byte, o origin) (model.Block, error) {
	v, err := object.Decode(o.name, b, func(v *object.Block) *lossless.Extra { return &v.Extra })
	if err != nil {
		return model.Block{}, fmt.Errorf("block %w", err)
	}
	cidr, err := netip.ParsePrefix(v.CIDR.V)
	if err != nil {
		return model.Block{}, fmt.Errorf("block %s: %w", o.name, err)
	}
	row := model.Block{
		Name: o.name, CIDR: cidr, Affinity: v.Affinity.V, Length: len(v.Allocations.V), Free: v.Unallocated.V,
		Sequence: v.Sequence.V, Deleted: v.Deleted.V, UID: o.uid, Written: o.written, Revision: o.revision,
	}
	if row.Affinity == "" && v.HostAffinity.V != "" {
		row.Affinity = "host:" + v.HostAffinity.V
	}
	for i, at := range v.Allocations.V {
		if at != nil {
			row.Held = append(row.Held, model.Slot{int32(i), *at})
		}
	}
	for _, at := range v.Attributes.V {
		row.Attributes = append(row.Attributes, at.Row())
	}
	for k, n := range v.Sequences.V {
		ord, err := strconv.ParseInt(k, 10, 32)
		if err != nil {
			return row, fmt.Errorf("block %s: sequence number of ordinal %q", o.name, k)
		}
		row.Sequences = append(row.Sequences, model.Sequence{Ordinal: int32(ord), Number: n})
	}
	slices.SortFunc(row.Sequences, byOrdinal)
	return row, nil
}

func byOrdinal(a, b model.Sequence) int { return cmp.Compare(a.Ordinal, b.Ordinal) }

func byRange(a, b model.BlockCount) int {
	return cmp.Or(a.CIDR.Addr().Compare(b.CIDR.Addr()), cmp.Compare(a.CIDR.Bits(), b.CIDR.Bits()))
}

func handleRow(b []byte, o origin) (model.Handle, error) {
	if row, ok := scanHandle(b, o); ok {
		return row, nil
	}
	return decodeHandle(b, o)
}

func decodeHandle(b []byte, o origin) (model.Handle, error) {
	v, err := object.Decode(o.name, b, func(v *object.Handle) *lossless.Extra { return &v.Extra })
	if err != nil {
		return model.Handle{}, fmt.Errorf("handle %w", err)
	}
	row := model.Handle{ID: v.ID.V, Name: o.name, Deleted: v.Deleted.V, UID: o.uid, Written: o.written, Revision: o.revision}
	if row.ID == "" {
		row.ID = o.name
	}
	if row.Name == row.ID {
		row.Name = row.ID // one copy of a long string
	}
	for c, n := range v.Block.V {
		cidr, err := netip.ParsePrefix(c)
		if err != nil {
			return row, fmt.Errorf("handle %s: %w", o.name, err)
		}
		row.Blocks = append(row.Blocks, model.BlockCount{CIDR: cidr, Count: n})
	}
	slices.SortFunc(row.Blocks, byRange)
	return row, nil
}

func affinityRow(b []byte, o origin) (model.Affinity, error) {
	if row, ok := scanAffinity(b, o); ok {
		return row, nil
	}
	return decodeAffinity(b, o)
}

func decodeAffinity(b []byte, o origin) (model.Affinity, error) {
	v, err := object.Decode(o.name, b, func(v *object.Affinity) *lossless.Extra { return &v.Extra })
	if err != nil {
		return model.Affinity{}, fmt.Errorf("affinity %w", err)
	}
	row := model.Affinity{
		Name: o.name, Node: v.Node.V, Type: cmp.Or(v.Type.V, "host"), State: cmp.Or(v.State.V, "confirmed"),
		Deleted: bytes.Contains(v.Deleted.V, []byte("true")), UID: o.uid, Written: o.written, Revision: o.revision,
	}
	if v.CIDR.V == "" {
		return row, nil // in etcd the key has it
	}
	if row.CIDR, err = netip.ParsePrefix(v.CIDR.V); err != nil {
		return row, fmt.Errorf("affinity %s: %w", o.name, err)
	}
	return row, nil
}

func endpointRow(namespace string, b []byte, o origin) (model.Endpoint, error) {
	if row, ok := scanEndpoint(namespace, b, o); ok {
		return row, nil
	}
	return decodeEndpoint(namespace, b, o)
}

func decodeEndpoint(namespace string, b []byte, o origin) (model.Endpoint, error) {
	v, err := object.Decode(o.name, b, func(v *object.Endpoint) *lossless.Extra { return &v.Extra })
	if err != nil {
		return model.Endpoint{}, fmt.Errorf("endpoint %w", err)
	}
	row := model.Endpoint{
		Namespace: namespace, Name: o.name, Node: v.Node.V, Orchestrator: v.Orchestrator.V, Pod: v.Pod.V, Interface: v.Endpoint.V,
		Device: v.Interface.V, ContainerID: v.ContainerID.V, MAC: v.MAC.V, Written: o.written, Revision: o.revision,
	}
	for _, n := range v.IPNetworks.V {
		p, err := netip.ParsePrefix(n)
		if err != nil {
			return row, fmt.Errorf("endpoint %s/%s: %w", namespace, o.name, err)
		}
		row.IPs = append(row.IPs, p.Addr().Unmap())
	}
	return row, nil
}

func hostRow(b []byte, o origin) (model.Host, error) {
	v, err := object.Decode(o.name, b, func(v *calicoNode) *lossless.Extra { return &v.Extra })
	if err != nil {
		return model.Host{}, fmt.Errorf("node %w", err)
	}
	row := model.Host{Name: o.name, Revision: o.revision}
	for _, r := range v.OrchRefs.V {
		if r.Orchestrator == "k8s" {
			row.Kubernetes = r.NodeName
		}
	}
	for _, prefix := range []string{v.BGP.V.IPv4, v.BGP.V.IPv6} {
		if p, err := netip.ParsePrefix(prefix); err == nil {
			row.IPs = append(row.IPs, p.Addr().Unmap())
		}
	}
	add := func(kind, ip string) {
		if a, err := netip.ParseAddr(ip); err == nil {
			row.Tunnels = append(row.Tunnels, model.Tunnel{Kind: kind, IP: a.Unmap()})
		}
	}
	add("ipip", v.BGP.V.IPIP)
	add("vxlan", v.VXLAN4.V)
	add("vxlan-v6", v.VXLAN6.V)
	add("wireguard", v.Wireguard.V.IPv4)
	add("wireguard-v6", v.Wireguard.V.IPv6)
	return row, nil
}

func poolRow(b []byte, o origin) (model.Pool, error) {
	v, err := object.Decode(o.name, b, func(v *ipPool) *lossless.Extra { return &v.Extra })
	if err != nil {
		return model.Pool{}, fmt.Errorf("pool %w", err)
	}
	cidr, err := netip.ParsePrefix(v.CIDR.V)
	if err != nil {
		return model.Pool{}, fmt.Errorf("pool %s: %w", o.name, err)
	}
	row := model.Pool{
		Name: o.name, CIDR: cidr, BlockSize: v.BlockSize.V, Disabled: v.Disabled.V, Uses: v.Uses.V,
		Assignment: v.Assignment.V, Selector: v.Selector.V, Revision: o.revision,
	}
	if row.BlockSize == 0 {
		row.BlockSize = model.DefaultBlockSize(cidr.Addr())
	}
	on := func(mode string) bool { return mode != "" && mode != "Never" }
	switch {
	case on(v.VXLAN.V):
		row.Tunnel, row.Mode = "VXLAN", v.VXLAN.V
	case on(v.IPIP.V):
		row.Tunnel, row.Mode = "IPIP", v.IPIP.V
	}
	return row, nil
}

func reservationRow(b []byte, o origin) (model.Reservation, error) {
	v, err := object.Decode(o.name, b, func(v *ipReservation) *lossless.Extra { return &v.Extra })
	if err != nil {
		return model.Reservation{}, fmt.Errorf("reservation %w", err)
	}
	row := model.Reservation{Name: o.name}
	for _, c := range v.CIDRs.V {
		if a, err := netip.ParseAddr(c); err == nil {
			row.CIDRs = append(row.CIDRs, netip.PrefixFrom(a, a.BitLen()))
		} else if p, err := netip.ParsePrefix(c); err == nil {
			row.CIDRs = append(row.CIDRs, p)
		}
	}
	return row, nil
}
