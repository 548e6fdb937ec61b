package change

import (
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/model"
)

// ours reports that a handle is one of our own, which needs no object: no DEL releases by it.
func ours(handle string) bool { return model.OwnHandle(handle) }

// receivers names the handles that addresses are given to.
func receivers(os []Ordinal) []model.Ref {
	var out []model.Ref
	for _, o := range os {
		if o.To == nil || o.To.Handle == "" || ours(o.To.Handle) {
			continue
		}
		if ref := (model.Ref{Kind: model.KindHandle, Name: o.To.Handle}); !slices.Contains(out, ref) {
			out = append(out, ref)
		}
	}
	return out
}

// uncounted gives the handles that do not count yet what the block would hold for them. As in
// Calico a handle counts an address before a block allocates it: else a DEL does not find it.
func (b *block) uncounted(sc *Scene, os []Ordinal) (map[string]bool, error) {
	out := map[string]bool{}
	for _, ref := range receivers(os) {
		object := sc.Also[ref]
		h, err := readHandle(object)
		if err != nil {
			return nil, err
		}
		holds := b.holds(ref.Name)
		said := map[netip.Addr]bool{}
		for _, o := range os {
			if n := b.ordinal(o.IP); n >= 0 && o.To != nil && o.To.Handle == ref.Name && !said[o.IP] && !b.heldBy(n, ref.Name) {
				said[o.IP] = true
				holds++
			}
		}
		out[ref.Name] = !object.There() || h.Deleted.V || h.Block.V[b.cidr.String()] < holds
	}
	return out, nil
}

// blockRefs names blocks.
func blockRefs(cidrs []netip.Prefix) []model.Ref {
	var out []model.Ref
	for _, c := range cidrs {
		out = append(out, model.Ref{Kind: model.KindBlock, Name: c.String()})
	}
	return out
}

// unrecorded gives an address that none of the blocks has for the container; invalid if there is
// none. Felix routes an address to whoever publishes it, so IPAM must name the pod before.
func unrecorded(sc *Scene, cidrs []netip.Prefix, ips []netip.Addr, container string) (netip.Addr, error) {
	for _, ip := range ips {
		found := false
		for _, ref := range blockRefs(cidrs) {
			object := sc.Also[ref]
			if !object.There() {
				continue
			}
			b, err := readBlock(object)
			if err != nil {
				return ip, err
			}
			if n := b.ordinal(ip); n >= 0 && b.holder(n) != nil {
				found = found || model.ContainerOf(b.holder(n).Handle.V) == container
			}
		}
		if !found {
			return ip, nil
		}
	}
	return netip.Addr{}, nil
}

// covered reports that each address is in one of the blocks.
func covered(cidrs []netip.Prefix, ips []netip.Addr) bool {
	return !slices.ContainsFunc(ips, func(ip netip.Addr) bool {
		return !slices.ContainsFunc(cidrs, func(c netip.Prefix) bool { return c.Contains(ip) })
	})
}
